#!/bin/sh
# Installs what `make build` built, or takes it away again.
#   install.sh install|uninstall RELEASE_FOLDER      PREFIX (/usr/local) and DESTDIR ("") come from the environment
# The programs lie together in PREFIX/lib/sluice, where they find each other, libtorch's plug-in and the examples;
# PREFIX/bin/sluice is a link to one of them. A configuration that is there already is left alone, by both.
set -eu
cd "$(dirname "$0")/.."
action=$1
release=$2
prefix=${PREFIX:-/usr/local}
root=${DESTDIR:-}
case $prefix in /*) ;; *) echo "error: PREFIX '$prefix' is not an absolute path" >&2; exit 1 ;; esac
programs=$root$prefix/lib/sluice
documents=$root$prefix/share/doc/sluice
completions=$root$prefix/share/bash-completion/completions
units=$root$prefix/lib/systemd/system
configuration=$root/etc/sluice

if [ "$action" = uninstall ]; then
  rm -rf "$programs" "$documents"
  rm -f "$root$prefix/bin/sluice" "$completions/sluice" "$units/sluice.service"
  echo "ok: Sluice is no longer in $root$prefix; $configuration and the data directory are left as they are"
  exit 0
fi
[ "$action" = install ] || { echo "error: '$action' is neither install nor uninstall" >&2; exit 1; }

for program in sluice sluice-worker; do
  [ -x "$release/$program" ] || { echo "error: there is no $release/$program: run \`make build\` first" >&2; exit 1; }
done
install -d "$root$prefix/bin" "$programs" "$documents/docs" "$completions" "$units" "$configuration"
install -m 755 "$release/sluice" "$release/sluice-worker" "$programs/"
[ ! -f "$release/sluice-torch.so" ] || install -m 755 "$release/sluice-torch.so" "$programs/"
rm -rf "$programs/examples"
cp -R examples "$programs/examples"
chmod -R u+rwX,go+rX,go-w "$programs/examples"
ln -sfn ../lib/sluice/sluice "$root$prefix/bin/sluice"
"$programs/sluice" completion bash > "$completions/sluice"
sed "s|@PREFIX@|$prefix|g" deploy/sluice.service > "$units/sluice.service"
chmod 644 "$completions/sluice" "$units/sluice.service"
install -m 644 LICENSE README.md CHANGELOG.md deploy/sluice.yaml "$documents/"
install -m 644 docs/*.md "$documents/docs/"
[ -e "$configuration/sluice.yaml" ] || install -m 640 deploy/sluice.yaml "$configuration/sluice.yaml"
echo "ok: Sluice is in $root$prefix: $prefix/bin/sluice up --demo, or: systemctl enable --now sluice"
