#!/bin/sh
echo "Sluice"
