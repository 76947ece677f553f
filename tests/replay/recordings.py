#!/usr/bin/env python3
"""Replays every recording of $SYMTAPE_SHARED (or the logs named) and lists what does not match, by
operator: how often, and one example.

usage: recordings.py SYMTAPE [-v] [OPERATOR-TEXT or LOG]...
-v prints every difference of the operators named (derived ones apart)."""
import collections
import concurrent.futures
import glob
import json
import os
import subprocess
import sys


def replay(symtape, log):
    rules = os.path.join(os.path.dirname(__file__), '../rules/mylib.rules')
    out = subprocess.run([symtape, 'replay', '--json', '--guards', '--jobs', '1', '--rules', rules, log],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        return json.loads(out.stdout)
    except ValueError:
        return {'failed': f'exit {out.returncode}: ' + out.stderr.decode(errors='replace')[-200:]}


def main():
    args = [a for a in sys.argv[1:] if a != '-v']
    verbose = '-v' in sys.argv
    symtape, rest = args[0], args[1:]
    shared = os.environ.get('SYMTAPE_SHARED', '../shared')
    logs = [a for a in rest if os.path.exists(a)]
    words = [a for a in rest if not os.path.exists(a)]
    if not logs:
        logs = sorted(glob.glob(f'{shared}/traces/*.log.zst') + glob.glob(f'{shared}/failures/*.log.zst') +
                      glob.glob(f'{shared}/variety/*.log.zst'))
    ops = collections.defaultdict(collections.Counter)
    example = {}
    totals, kernel, guards = collections.Counter(), collections.Counter(), collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for log, doc in zip(logs, pool.map(lambda log: replay(symtape, log), logs)):
            name = os.path.basename(log).replace('.log.zst', '')
            if 'failed' in doc:
                print(f'{name}: {doc["failed"]}')
                continue
            t, k = doc['totals'], doc['guards']['kernel']
            totals.update(t)
            kernel.update(k)
            guards.update({key: doc['guards'][key] for key in ('recorded', 'computed', 'from_record')})
            print(f'{name:32}', *(f'{key} {t[key]}' for key in ('calls', 'match', 'mismatch', 'refused',
                                                                'unsupported', 'adopted') if t[key]), ' guards',
                  *(f'{key} {k[key]}' for key in k if k[key]))
            for op, n in doc['unsupported_ops'].items():
                ops[op]['unsupported'] += n
                example.setdefault(op, name)
            for d in doc['mismatches']:
                kind = 'derived' if d.get('derived') else d['outcome']
                ops[d['rule']][kind] += 1
                if kind == 'derived':
                    continue
                text = f'{name} {d["compile"]}_{d["attempt"]}:{d["graph"]} {d["node"]}\n' \
                       f'      recorded {d["recorded"]}\n      {d["outcome"]:8} {d["replayed"]}'
                if d['rule'] not in example or example[d['rule']] == name:
                    example[d['rule']] = text
                if verbose and any(w in d['rule'] for w in words):
                    print('  ', d['op'], text)
            if verbose:
                for g in doc['guards'].get('list', []):
                    if g['outcome'] in ('missing', 'extra'):
                        asker, line = g.get('asker', {}), g.get('line', {})
                        print('   guard', g['outcome'], g['expr'], g.get('graph', ''), g.get('node', ''),
                              g.get('op', ''), *(f'{os.path.basename(f["file"])}:{f["line"]} {f["function"]}'
                                                 for f in (asker, line) if f))
    print()
    for op, counts in sorted(ops.items(), key=lambda o: -sum(o[1].values())):
        if not words or any(w in op for w in words):
            print(f'{sum(counts.values()):7} {op}', dict(counts))
            print('    ', example.get(op, ''))
    print()
    print('totals', dict(totals))
    print('kernel guards', dict(kernel))
    print('guards', dict(guards))


main()
