#!/usr/bin/env python3
"""Posts asynchronous requests to a server that may die at any moment, and writes down every one that was accepted.

usage: chaos_client.py ADDRESS_FILE ACCEPTED_FILE COUNT SECONDS
Request i carries the number i. A line of ACCEPTED_FILE is `ID i`. What was not acknowledged is posted again: the server may
have it twice then, but was asked twice. ADDRESS_FILE has the address of the server that lives.
"""
import http.client
import json
import sys
import threading
import time
from pathlib import Path

from serving import floats

SENDERS = 4


def application_of(number):
    return "batched" if number % 2 else "chain"


def post(address_file, number):
    """The id of the accepted request; None if nobody said so."""
    host, port = Path(address_file).read_text().rsplit(":", 1)
    connection = http.client.HTTPConnection(host, int(port), timeout=5)
    try:
        connection.request("POST", f"/v2/models/{application_of(number)}/infer?async=true", body=json.dumps(floats(number)))
        reply = connection.getresponse()
        body = reply.read()
        return json.loads(body)["id"] if reply.status == 202 else None
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


def main(address_file, accepted_file, count, seconds):
    began, lock = time.monotonic(), threading.Lock()
    numbers = iter(range(int(count)))
    with open(accepted_file, "a", encoding="ascii", buffering=1) as accepted:
        def send():
            while True:
                with lock:
                    number = next(numbers, None)
                if number is None:
                    return
                due = began + number * float(seconds) / int(count)
                while (left := due - time.monotonic()) > 0:
                    time.sleep(left)
                while (request := post(address_file, number)) is None:
                    time.sleep(0.02)
                with lock:
                    accepted.write(f"{request} {number}\n")
        senders = [threading.Thread(target=send) for _ in range(SENDERS)]
        for sender in senders:
            sender.start()
        for sender in senders:
            sender.join()


if __name__ == "__main__":
    main(*sys.argv[1:])
