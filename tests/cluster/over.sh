#!/bin/sh
# What workers of a launcher must give: the bytes of one job here, and the same first bad commit.
#
# usage: over.sh SYMTAPE LAUNCHER FOLDER
set -u
exe=$1 launcher=$2 folder=$3
root=$(cd "$(dirname "$0")/../.." && pwd)
graph=$root/tests/recordings/encoder.log.zst:0/1:dynamo
cat > "$folder/fails.sh" <<'END'
#!/bin/sh
grep -q 'softmax' "$1"
END
chmod 700 "$folder/fails.sh"
"$exe" minify -q "$graph" --check "$folder/fails.sh" -o "$folder/one.tape" > "$folder/one.txt" ||
    { echo "over.sh: one job failed"; exit 1; }
"$exe" minify -q "$graph" --check "$folder/fails.sh" -j 2 --launcher "$launcher" -o "$folder/two.tape" > "$folder/two.txt" ||
    { echo "over.sh: minify --launcher failed"; exit 1; }
cmp "$folder/one.tape" "$folder/two.tape" || exit 1
grep 'checks' "$folder/one.txt" "$folder/two.txt" | sed 's/.*[/]//'
mkdir "$folder/repository" && cd "$folder/repository" && git init -q . || exit 1
for i in 1 2 3 4 5 6 7 8; do
    echo $i > n
    git add n && git -c user.name=n -c user.email=n@example.org commit -q -m "change $i"
done
cat > "$folder/suite.sh" <<'END'
#!/bin/sh
[ "$(cat n)" -lt 6 ]
END
"$exe" bisect --commits HEAD~7..HEAD --suite "$folder/suite.sh" -j 2 --launcher "$launcher" \
    --log "$folder/bisect.log" > "$folder/found.txt"
[ $? = 1 ] && grep -q 'first bad: .* change 6' "$folder/found.txt" && exit 0
cat "$folder/found.txt"
exit 1
