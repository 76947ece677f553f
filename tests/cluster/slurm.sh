#!/bin/sh
# symtape minify and bisect by workers that srun starts: Slurm of Debian (slurm-wlm), with this machine
# as two nodes; its daemons run as long as the test, in a folder of their own. Exit 77: it cannot
# start; the line says why.
#
# usage: slurm.sh SYMTAPE
set -u
exe=$(realpath "$1")
skip() { echo "slurm.sh: skipped: $1"; exit 77; }
PATH=$PATH:/usr/sbin
for program in slurmctld slurmd srun sinfo; do
    command -v $program > /dev/null || skip "there is no $program"
done
[ "$(id -u)" = 0 ] || skip "slurmd needs root"
folder=$(mktemp -d) || exit 1
started=
trap 'for pid in $started; do kill "$pid" 2> /dev/null; done; wait; rm -rf "$folder"' EXIT
chmod 755 "$folder"
mkdir "$folder/state" "$folder/n1" "$folder/n2"
port=$((30000 + $$ % 20000))
host=$(hostname -s)
cat > "$folder/slurm.conf" <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmUser=root
AuthType=auth/none
CredType=cred/none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/%n.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/%n.log
SlurmdParameters=config_overrides
NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 1)) CPUs=2 State=UNKNOWN
NodeName=n2 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 2)) CPUs=2 State=UNKNOWN
PartitionName=all Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF="$folder/slurm.conf"
slurmctld -D -f "$SLURM_CONF" > "$folder/slurmctld.out" 2>&1 &
started="$started $!"
for node in n1 n2; do
    slurmd -D -N $node -f "$SLURM_CONF" > "$folder/$node.out" 2>&1 &
    started="$started $!"
done
ready=
for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
    [ "$(timeout 5 sinfo -h -N -t idle -o %N 2> /dev/null | wc -l)" = 2 ] && ready=yes && break
    sleep 1
done
[ -n "$ready" ] || skip "its two nodes do not come up: $(cat "$folder"/*.out "$folder"/*.log 2> /dev/null | grep -i -E 'error|fatal' | tail -n 1)"
timeout 20 srun -N1 -n1 true || skip "srun runs nothing"
"$(dirname "$0")/over.sh" "$exe" "srun -Q -N1 -n1" "$folder" && echo "slurm.sh: workers on two nodes of Slurm: the same bytes"
