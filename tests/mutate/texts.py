"""Texts with a grammar: graphs, FX texts, expressions, rules, settings. Mutated by tokens and lines,
so that most of what comes out is still read, and means something else."""
import re

from pick import DTYPES, hostile, number, one_of

TOKEN = re.compile(r"[A-Za-z_][\w.]*|\d+|\"[^\"\n]*\"|'[^'\n]*'|\s+|[^\w\s]")
NUMBER = re.compile(r"\d+$")
NAME = re.compile(r"[A-Za-z_][\w.]*$")
OPERATORS = ["+", "-", "*", "//", "%", "**", "(", ")", "[", "]", ",", ":", "=", "==", "<", ";", "\\", "#", "'", '"']


class Tokens:
    def __init__(self, rng, text):
        self.rng, self.words = rng, TOKEN.findall(text)
        self.names = [w for w in self.words if NAME.match(w)]

    def place(self, pattern=None):
        """Where a token that the pattern matches stands; one of any kind when there is none."""
        found = [i for i, w in enumerate(self.words) if pattern.match(w)] if pattern else []
        return self.rng.choice(found) if found else self.rng.randrange(max(1, len(self.words)))

    def put(self, at, word):
        self.words[at:at + 1] = [word]

    def other_number(self):
        self.put(self.place(NUMBER), str(number(self.rng)))

    def other_name(self):
        self.put(self.place(NAME), self.rng.choice(self.names or ["x"]))

    def other_operator(self):
        """The target of a call becomes another one of the text, or one that nobody has."""
        targets = [n for n in self.names if n.startswith("torch.")] or ["torch.ops.aten.sin.default"]
        odd = ["torch.os.system", "builtins.exec", "torch.ops.aten.nothing.default", "torch.ops.a.b.c.d.e",
               "torch.load", "torch.ops.aten.sin", "operator.add", "_operator.getitem", "torch.ops.higher_order.cond"]
        self.put(self.place(re.compile(r"torch\.")), self.rng.choice(targets * 2 + odd))

    def other_dtype(self):
        self.put(self.place(re.compile(r"\"")), f'"{self.rng.choice(DTYPES)}[{number(self.rng)}, s77][1]cpu:{number(self.rng)}"')

    def hostile_word(self):
        word = hostile(self.rng)
        self.put(self.place(self.rng.choice((None, NAME, re.compile("['\"]")))), self.rng.choice((word, repr(word))))

    def punctuation(self):
        self.put(self.place(), self.rng.choice(OPERATORS))

    def drop(self):
        self.put(self.place(), "")

    def double(self):
        at = self.place()
        self.words[at:at] = self.words[at:at + self.rng.randint(1, 40)]

    def nest(self):
        depth = self.rng.choice((3, 50, 200, 5000))
        at = self.place()
        if at < len(self.words):
            self.put(at, "(" * depth + self.words[at] + ")" * depth)

    def end(self):
        del self.words[self.place():]


def change_lines(rng, text):
    lines = text.split("\n")
    a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
    kind = rng.randrange(5)
    if kind == 0:
        del lines[a]
    elif kind == 1:
        lines[a], lines[b] = lines[b], lines[a]
    elif kind == 2:
        lines.insert(a, lines[b])
    elif kind == 3:
        lines[a] = rng.choice(("", " ", "    ", "\t")) + lines[a]
    else:
        lines[a] = lines[a].strip()
    return "\n".join(lines)


def mutate(rng, text, most=4):
    """One to `most` changes of the text."""
    for _ in range(rng.randint(1, most)):
        if rng.randrange(6) == 0:
            text = change_lines(rng, text)
            continue
        t = Tokens(rng, text)
        one_of(rng, (4, t.other_number), (4, t.other_name), (4, t.other_operator), (2, t.other_dtype),
               (3, t.hostile_word), (2, t.punctuation), (2, t.drop), (1, t.double), (1, t.nest), (1, t.end))
        text = "".join(t.words)
    return text
