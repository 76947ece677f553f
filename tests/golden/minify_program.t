# minify, a program that is wrong

Requires: python3

A Python that answers the questions to PyTorch by what the file `answer` holds, and a program that compiled four graphs and exits with STATUS, unless eager runs frame 1.

    $ cat > python <<'END'
    > #!/usr/bin/env python3
    > import json, os, signal, socket, sys, time
    > if sys.argv[1] == "-c":
    >     sys.exit(print("2.13.0"))
    > control = socket.socket(fileno=int(sys.argv[-1]))
    > control.send(b"ready 2.13.0\n")
    > signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    > while True:
    >     data, descriptors, _, _ = socket.recv_fds(control, 1, 1)
    >     if not data:
    >         break
    >     if os.fork() == 0:
    >         os.setpgid(0, 0)
    >         stream = socket.socket(fileno=descriptors[0]).makefile("rwb")
    >         stream.write(b"%d\n" % os.getpid())
    >         stream.flush()
    >         question = json.loads(stream.readline())
    >         text = stream.read(question["bytes"])
    >         special = question["ask"] if question["ask"] == "settings" else "large" if b"mul_" in text else \
    >             question.get("backend") if question.get("backend") == "mine" else "gradients" if b"requires_grad_" in text else ""
    >         name = special if os.path.exists(special) else "answer"
    >         if os.path.exists("set") and any("max_autotune" in word for word in sys.argv):
    >             name = "set"
    >         with open(name) as file:
    >             answer = {"eager": "", "torch": "2.13.0", **json.load(file)}
    >         open("asked", "w").close()
    >         time.sleep(answer.get("sleep", 0))
    >         stream.write(json.dumps(answer).encode() + b"\n")
    >         stream.flush()
    >         os._exit(0)
    >     os.close(descriptors[0])
    > END

    $ cat > program <<'END'
    > #!/bin/sh
    > if [ -n "$TORCH_TRACE" ]; then
    >     cp "$LOG" "$TORCH_TRACE/dedicated_log_torch_trace_a.log"
    >     exit $STATUS
    > fi
    > touch again
    > sleep ${SLEEP:-0}
    > case ,${TORCH_COMPILE_OVERRIDE_BACKENDS%:eager}, in *,${WRONG:-1},*) exit 0;; esac
    > exit $STATUS
    > END

    $ chmod +x python program; symtape export -q $RECORDINGS/graph_break.log.zst -o four.log; symtape export -q $RECORDINGS/reset.log.zst -o reset.log

    $ cat > run <<'END'
    > #!/bin/sh
    > rm -f again asked
    > export STATUS=${STATUS:-1} LOG=${LOG:-four.log}
    > SYMTAPE_PYTHON=$PWD/python exec symtape minify --overwrite --cpu --json "$@" -- ./program > out
    > END

    $ chmod +x run; echo '{"outcome": "ok"}' > answer

None of its graphs fails alone, so that the program is run again; one that succeeds is not.

    $ ./run --torch-oracle accuracy; grep -o '"wrong_graph":[^,]*' out
    "wrong_graph":"minified.recording.tape:1/2_0:dynamo_output_graph"
    2> symtape: runs ./program (symtape record --deep -o minified.recording.tape)
    2> symtape: the program ended with exit code 1
    2> symtape: minified.recording.tape:0/0_1:dynamo_output_graph: runs $TMP/python ($SYMTAPE_PYTHON, torch 2.13.0), which compiles programs made from its graphs (--torch-oracle accuracy)
    2> symtape: none of the 4 graphs fails alone
    2> symtape: the values of the program may matter: it is run again, with 2 graphs by eager in turn (TORCH_COMPILE_OVERRIDE_BACKENDS)
    2> symtape: minified.recording.tape:1/2_0:dynamo_output_graph: the program succeeds if eager runs this graph, and all others are compiled; 3 runs (TORCH_COMPILE_OVERRIDE_BACKENDS=1:eager)
    2> symtape: minified.recording.tape:1/2_0:dynamo_output_graph: does not fail with random inputs, and is not reduced

    $ STATUS=0 ./run --torch-oracle accuracy; grep -o '"wrong_graph":[^,]*' out; test -e again
    "wrong_graph":null
    2> symtape: runs ./program (symtape record --deep -o minified.recording.tape)
    2> symtape: the program ended with exit code 0
    2> symtape: minified.recording.tape:0/0_1:dynamo_output_graph: runs $TMP/python ($SYMTAPE_PYTHON, torch 2.13.0), which compiles programs made from its graphs (--torch-oracle accuracy)
    2> symtape: none of the 4 graphs fails alone
    2> symtape: minified.recording.tape:1/2_0:dynamo_output_graph: does not fail: PyTorch 2.13.0 does not fail
    [exit 1]

A program that ends well, and of which no compile failed, has nothing to reduce.

    $ STATUS=0 ./run
    2> symtape: runs ./program (symtape record --deep -o minified.recording.tape)
    2> symtape: the program ended with exit code 0
    2> symtape: nothing failed; if results are wrong, symtape minify minified.recording.tape --torch-oracle accuracy finds the graph that computes them
    [exit 1]

What PyTorch cannot tell of a graph is no answer.

    $ echo '{"outcome": "cannot", "message": "no memory"}' > answer; ./run --torch-oracle accuracy; test -e again
    2> symtape: runs ./program (symtape record --deep -o minified.recording.tape)
    2> symtape: the program ended with exit code 1
    2> symtape: minified.recording.tape:0/0_1:dynamo_output_graph: runs $TMP/python ($SYMTAPE_PYTHON, torch 2.13.0), which compiles programs made from its graphs (--torch-oracle accuracy)
    2> symtape: none of the 4 graphs is known to fail alone; of 4, PyTorch cannot tell it, or they fail differently
    2> symtape: minified.recording.tape:1/2_0:dynamo_output_graph: cannot tell whether it fails: no memory
    [exit 1]

Frames of one number before and after torch._dynamo.reset().

    $ echo '{"outcome": "ok"}' > answer; WRONG=0 LOG=reset.log ./run --torch-oracle accuracy; grep -o '"wrong_graph":[^,]*' out
    "wrong_graph":null
    2> symtape: runs ./program (symtape record --deep -o minified.recording.tape)
    2> symtape: the program ended with exit code 1
    2> symtape: minified.recording.tape:0/0_0:dynamo_output_graph: runs $TMP/python ($SYMTAPE_PYTHON, torch 2.13.0), which compiles programs made from its graphs (--torch-oracle accuracy)
    2> symtape: none of the 5 graphs fails alone
    2> symtape: the values of the program may matter: it is run again, with 1 graph by eager in turn (TORCH_COMPILE_OVERRIDE_BACKENDS)
    2> symtape: minified.recording.tape:0/1_0:dynamo_output_graph and minified.recording.tape:0/2.1_0:dynamo_output_graph have the same frame id, since they are of several processes or of before and after torch._dynamo.reset(): one of them makes the program fail, and which one is not known (TORCH_COMPILE_OVERRIDE_BACKENDS=0:eager)
    2> symtape: minified.recording.tape:0/2.1_0:dynamo_output_graph: does not fail: PyTorch 2.13.0 does not fail

A run that does not end is no failure, and a signal ends it, as it ends the first question.

    $ SLEEP=60 ./run --torch-oracle accuracy --timeout 4
    2> symtape: runs ./program (symtape record --deep -o minified.recording.tape)
    2> symtape: the program ended with exit code 1
    2> symtape: minified.recording.tape:0/0_1:dynamo_output_graph: runs $TMP/python ($SYMTAPE_PYTHON, torch 2.13.0), which compiles programs made from its graphs (--torch-oracle accuracy)
    2> symtape: none of the 4 graphs fails alone
    2> symtape: the values of the program may matter: it is run again, with 2 graphs by eager in turn (TORCH_COMPILE_OVERRIDE_BACKENDS)
    2> symtape: run 1 of the program did not end within 4 s, and which graph makes it fail is not known; --timeout gives it more time
    2> symtape: minified.recording.tape:1/2_0:dynamo_output_graph: does not fail: PyTorch 2.13.0 does not fail
    [exit 1]

    $ rm -f again; SLEEP=60 ./run --torch-oracle accuracy & until test -e again; do sleep 0.1; done; kill $!; wait $!
    2> symtape: runs ./program (symtape record --deep -o minified.recording.tape)
    2> symtape: the program ended with exit code 1
    2> symtape: minified.recording.tape:0/0_1:dynamo_output_graph: runs $TMP/python ($SYMTAPE_PYTHON, torch 2.13.0), which compiles programs made from its graphs (--torch-oracle accuracy)
    2> symtape: none of the 4 graphs fails alone
    2> symtape: the values of the program may matter: it is run again, with 2 graphs by eager in turn (TORCH_COMPILE_OVERRIDE_BACKENDS)
    2> symtape: minified.tape: not written, since the whole graph was not checked yet
    [exit 130]

    $ echo '{"outcome": "ok", "sleep": 60}' > answer; rm -f asked; ./run --torch-oracle accuracy & until test -e asked; do sleep 0.1; done; kill $!; wait $!
    2> symtape: runs ./program (symtape record --deep -o minified.recording.tape)
    2> symtape: the program ended with exit code 1
    2> symtape: minified.recording.tape:0/0_1:dynamo_output_graph: runs $TMP/python ($SYMTAPE_PYTHON, torch 2.13.0), which compiles programs made from its graphs (--torch-oracle accuracy)
    2> symtape: minified.tape: not written, since the whole graph was not checked yet
    [exit 130]

Compiling that takes no longer than a call, and a cost without a limit.

    $ echo '{"outcome": "timed", "seconds": 0, "called": 0.01}' > answer; SYMTAPE_PYTHON=$PWD/python symtape minify --torch-oracle seconds four.log:1/0:dynamo -o a.tape
    2> symtape: four.log:1/0:dynamo: runs $TMP/python ($SYMTAPE_PYTHON, torch 2.13.0), which compiles programs made from this graph (--torch-oracle seconds)
    2> symtape: four.log:1/0:dynamo: cannot tell whether it fails: compiling takes 0 s of processor time, which cannot be told from that of a call
    [exit 125]

    $ SYMTAPE_PYTHON=$PWD/python symtape minify --cost 'calls>=1' --torch-oracle seconds four.log:1/0:dynamo -o b.tape | grep PyTorch
    PyTorch 2.13.0: compiling takes 0 s of processor time
    2> symtape: four.log:1/0:dynamo: runs $TMP/python ($SYMTAPE_PYTHON, torch 2.13.0), which compiles programs made from this graph (--torch-oracle seconds)
    2> symtape: PyTorch 2.13.0: what compiling the whole graph takes is not known: compiling takes 0 s of processor time, which cannot be told from that of a call
    2> symtape: b.tape: the result as a tape

    $ symtape minify --cost seconds --torch-oracle seconds four.log:1/0:dynamo
    2> symtape: --torch-oracle: --cost seconds only prints what the graph costs; with a limit, as in 'seconds>=10', PyTorch compiles the whole graph and the smallest one
    [exit 2]

Options that the program has set, of a graph that does not fail with PyTorch's own: the graphs are asked about again with those that --config can set. The fake Python answers as before.

    $ echo '{"outcome": "ok"}' > answer; echo '{"outcome": "settings", "message": "inductor.max_autotune=True,functorch.debug_assert=True", "node": "inductor.cpp.cxx"}' > settings; ./run --torch-oracle accuracy
    2> symtape: runs ./program (symtape record --deep -o minified.recording.tape)
    2> symtape: the program ended with exit code 1
    2> symtape: minified.recording.tape:0/0_1:dynamo_output_graph: runs $TMP/python ($SYMTAPE_PYTHON, torch 2.13.0), which compiles programs made from its graphs (--torch-oracle accuracy)
    2> symtape: none of the 4 graphs fails alone
    2> symtape: the recording has options whose values differ from PyTorch's here and are not proposed for --config: inductor.cpp.cxx; a file of --import can set them
    2> symtape: it does not fail with PyTorch's own options; the program sets --config 'inductor.max_autotune=True,functorch.debug_assert=True'
    2> symtape: none of the 4 graphs fails alone
    2> symtape: the values of the program may matter: it is run again, with 2 graphs by eager in turn (TORCH_COMPILE_OVERRIDE_BACKENDS)
    2> symtape: minified.recording.tape:1/2_0:dynamo_output_graph: the program succeeds if eager runs this graph, and all others are compiled; 3 runs (TORCH_COMPILE_OVERRIDE_BACKENDS=1:eager)
    2> symtape: minified.recording.tape:1/2_0:dynamo_output_graph: does not fail with random inputs, and is not reduced
    [exit 1]

    $ SYMTAPE_PYTHON=$PWD/python symtape minify --overwrite --cpu minified.recording.tape:1/2 --torch-oracle accuracy -o one.tape
    2> symtape: minified.recording.tape:1/2_0:dynamo_output_graph: runs $TMP/python ($SYMTAPE_PYTHON, torch 2.13.0), which compiles programs made from this graph (--torch-oracle accuracy)
    2> symtape: the recording has options whose values differ from PyTorch's here and are not proposed for --config: inductor.cpp.cxx; a file of --import can set them
    2> symtape: the recording has options whose values differ from PyTorch's here, which may be why it does not fail: --config 'inductor.max_autotune=True,functorch.debug_assert=True' sets them
    2> symtape: minified.recording.tape:1/2_0:dynamo_output_graph: does not fail: PyTorch 2.13.0 does not fail
    [exit 1]

With these options it fails, and so does the program.

    $ echo '{"outcome": "wrong", "type": "value", "excess": 1e6}' > set; ./run --torch-oracle accuracy --repro r.py --max-calls 1; grep max_autotune r.py; rm settings set minified.tape.journal r.py
    torch._inductor.config.max_autotune = True
    2> symtape: runs ./program (symtape record --deep -o minified.recording.tape)
    2> symtape: the program ended with exit code 1
    2> symtape: minified.recording.tape:0/0_1:dynamo_output_graph: runs $TMP/python ($SYMTAPE_PYTHON, torch 2.13.0), which compiles programs made from its graphs (--torch-oracle accuracy)
    2> symtape: none of the 4 graphs fails alone
    2> symtape: the recording has options whose values differ from PyTorch's here and are not proposed for --config: inductor.cpp.cxx; a file of --import can set them
    2> symtape: it does not fail with PyTorch's own options; the program sets --config 'inductor.max_autotune=True,functorch.debug_assert=True'
    2> symtape: minified.recording.tape:0/0_1:dynamo_output_graph is the first of 4 graphs that fails; it is reduced
    2> symtape: minified.tape: the result as a tape
    2> symtape: r.py: the result as a program
    2> symtape: minified.good.py: not written: the search was not finished
    2> symtape: minified.issue.md: a bug report

Results that are wrong with larger inputs.

    $ echo '{"outcome": "wrong", "type": "value", "excess": 1e6}' > large; ./run --torch-oracle accuracy --repro r.py --max-calls 1; grep -n 'mul_' r.py
    9:x = torch.randn(4, 12).mul_(1000)
    2> symtape: runs ./program (symtape record --deep -o minified.recording.tape)
    2> symtape: the program ended with exit code 1
    2> symtape: minified.recording.tape:0/0_1:dynamo_output_graph: runs $TMP/python ($SYMTAPE_PYTHON, torch 2.13.0), which compiles programs made from its graphs (--torch-oracle accuracy)
    2> symtape: none of the 4 graphs fails alone
    2> symtape: minified.recording.tape:0/0_1:dynamo_output_graph fails with inputs that are random and 1000 times as large (--values large); it is reduced
    2> symtape: minified.tape: the result as a tape
    2> symtape: r.py: the result as a program
    2> symtape: minified.good.py: not written: the search was not finished
    2> symtape: minified.issue.md: a bug report

    $ rm minified.tape.journal; echo '{"outcome": "wrong", "type": "value", "excess": 10}' > large; ./run --torch-oracle accuracy
    2> symtape: runs ./program (symtape record --deep -o minified.recording.tape)
    2> symtape: the program ended with exit code 1
    2> symtape: minified.recording.tape:0/0_1:dynamo_output_graph: runs $TMP/python ($SYMTAPE_PYTHON, torch 2.13.0), which compiles programs made from its graphs (--torch-oracle accuracy)
    2> symtape: none of the 4 graphs fails alone
    2> symtape: the values of the program may matter: it is run again, with 2 graphs by eager in turn (TORCH_COMPILE_OVERRIDE_BACKENDS)
    2> symtape: minified.recording.tape:1/2_0:dynamo_output_graph: the program succeeds if eager runs this graph, and all others are compiled; 3 runs (TORCH_COMPILE_OVERRIDE_BACKENDS=1:eager)
    2> symtape: minified.recording.tape:1/2_0:dynamo_output_graph: does not fail with random inputs, and is not reduced
    [exit 1]

A backend that neither PyTorch nor a script of the command defines.

    $ rm -f large; echo '{"outcome": "backend", "message": "eager, inductor"}' > mine; echo '{"call": 0, "compile": "0/0", "backend": "mine"}' > rows; cp four.log named.log; printf 'V1120 12:00:00.000000 880 torch/a.py:1] {"symtape_calls": {"calls": 1}, "has_payload": "%s"}\n' $(md5sum < rows | cut -d' ' -f1) >> named.log; sed 's/^/\t/' rows >> named.log; LOG=named.log ./run
    2> symtape: runs ./program (symtape record --deep -o minified.recording.tape)
    2> symtape: the program ended with exit code 1
    2> symtape: its calls were compiled with the backend mine
    2> symtape: no compile failed, but the program did: its graphs are compared with eager mode (--torch-oracle accuracy)
    2> symtape: minified.recording.tape: runs $TMP/python ($SYMTAPE_PYTHON, torch 2.13.0), which compiles programs made from its graphs (--torch-oracle accuracy --torch-backend mine)
    2> symtape: PyTorch has no backend mine by itself: inductor is asked; --torch-backend MODULE:NAME names the function, and --import its file
    2> symtape: none of the 4 graphs fails alone with the backend inductor
    2> symtape: the values of the program may matter: it is run again, with 2 graphs by eager in turn (TORCH_COMPILE_OVERRIDE_BACKENDS)
    2> symtape: minified.recording.tape:1/2_0:dynamo_output_graph: the program succeeds if eager runs this graph, and all others are compiled; 3 runs (TORCH_COMPILE_OVERRIDE_BACKENDS=1:eager)
    2> symtape: minified.recording.tape:1/2_0:dynamo_output_graph: does not fail with random inputs, and is not reduced
    [exit 1]

    $ ./run --torch-oracle accuracy --torch-backend mine
    2> symtape: runs ./program (symtape record --deep -o minified.recording.tape)
    2> symtape: the program ended with exit code 1
    2> symtape: minified.recording.tape:0/0_1:dynamo_output_graph: runs $TMP/python ($SYMTAPE_PYTHON, torch 2.13.0), which compiles programs made from its graphs (--torch-oracle accuracy --torch-backend mine)
    2> symtape: --torch-backend: PyTorch 2.13.0 has no backend mine; it has eager, inductor; MODULE:NAME is a function, of a file of --import
    [exit 2]

What is not known with gradients is answered without them; a compile for inference computes none.

    $ echo '{"outcome": "cannot", "message": "no memory"}' > gradients; symtape export -q $RECORDINGS/train.log.zst -o train.log; SYMTAPE_PYTHON=$PWD/python symtape minify train.log:0/0:dynamo --torch-oracle run --cpu -o none.tape
    2> symtape: train.log:0/0:dynamo: runs $TMP/python ($SYMTAPE_PYTHON, torch 2.13.0), which compiles programs made from this graph (--torch-oracle run)
    2> symtape: train.log:0/0:dynamo: does not fail: PyTorch 2.13.0 does not fail
    [exit 1]

    $ echo '{"outcome": "raised", "type": "E", "message": "backward"}' > gradients; SYMTAPE_PYTHON=$PWD/python symtape minify train.log:0/0:dynamo --torch-oracle run --cpu --max-calls 1 -o t.tape 2>&1 | grep gradients
    symtape: train.log:0/0:dynamo fails only if its inputs require gradients, as in the recording: gradients are computed, too

The tape that it wrote names these inputs.

    $ SYMTAPE_PYTHON=$PWD/python symtape minify t.tape:0/0:dynamo --torch-oracle run --cpu --max-calls 1 -o u.tape 2>&1 | grep gradients
    symtape: t.tape:0/0:dynamo fails only if its inputs require gradients, as in the recording: gradients are computed, too

    $ sed 's/aot_joint_graph/other_graph/; s/aot_backward_graph/another_graph/; s/aot_forward_graph/aot_inference_graph/' train.log > inference.log; SYMTAPE_PYTHON=$PWD/python symtape minify inference.log:0/0:dynamo --torch-oracle run --cpu -o none.tape
    2> symtape: inference.log:0/0:dynamo: runs $TMP/python ($SYMTAPE_PYTHON, torch 2.13.0), which compiles programs made from this graph (--torch-oracle run)
    2> symtape: inference.log:0/0:dynamo: does not fail: PyTorch 2.13.0 does not fail
    [exit 1]
