#!/bin/sh
# symtape minify and bisect by workers over ssh, on this machine: a server of its own, on a port of
# localhost, with keys that last as long as the test. Exit 77: it cannot be set up; the line says why.
#
# usage: ssh.sh SYMTAPE
set -u
exe=$(realpath "$1")
skip() { echo "ssh.sh: skipped: $1"; exit 77; }
sshd=$(command -v sshd || ls /usr/sbin/sshd 2> /dev/null) || skip "there is no sshd"
command -v ssh > /dev/null && command -v ssh-keygen > /dev/null || skip "there is no ssh"
folder=$(mktemp -d) || exit 1
server=
trap '[ -z "$server" ] || kill "$server" 2> /dev/null; rm -rf "$folder"' EXIT
ssh-keygen -q -t ed25519 -N '' -f "$folder/host" && ssh-keygen -q -t ed25519 -N '' -f "$folder/user" ||
    skip "no keys can be made"
cp "$folder/user.pub" "$folder/authorized"
chmod 600 "$folder/authorized"
port=$((20000 + $$ % 20000))
cat > "$folder/config" <<END
Port $port
ListenAddress 127.0.0.1
HostKey $folder/host
AuthorizedKeysFile $folder/authorized
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin prohibit-password
END
mkdir -p /run/sshd 2> /dev/null
"$sshd" -D -f "$folder/config" -E "$folder/server.log" &
server=$!
cat > "$folder/launch" <<END
#!/bin/sh
exec ssh -q -p $port -i $folder/user -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null \\
    -o BatchMode=yes -o ConnectTimeout=5 127.0.0.1 "\$@"
END
chmod 700 "$folder/launch"
ready=
for try in 1 2 3 4 5 6 7 8 9 10; do
    "$folder/launch" true 2> /dev/null && ready=yes && break
    sleep 0.3
done
[ -n "$ready" ] || skip "the server does not let us in: $(tail -n 1 "$folder/server.log" 2> /dev/null)"
"$(dirname "$0")/over.sh" "$exe" "$folder/launch" "$folder" && echo "ssh.sh: workers over ssh: the same bytes"
