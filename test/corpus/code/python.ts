import type { MergeCase } from "./case.ts";

const language = "python" as const;

const base = `"""Shapes."""
import math


def area(r):
    return math.pi * r * r
`;

const cls = `class Box:
    """Holds things."""

    limit = 3

    def __init__(self):
        self.items = []

    def add(self, x):
        self.items.append(x)
`;

/** Python: indentation, decorators, docstrings, from-imports, dictionaries, counted class attributes. */
export const python: readonly MergeCase[] = [
  {
    name: "both sides append a function",
    language,
    base,
    ours: [["", "\n\ndef double(x):\n    return 2 * x\n"]],
    theirs: [["", "\n\ndef triple(x):\n    return 3 * x\n"]],
    holds: ["double(2) == 4", "triple(2) == 6", "area(1) > 3"],
  },
  {
    name: "both sides add an import",
    language,
    base,
    ours: [
      ["import math\n", "import math\nimport os\n"],
      ["", "\n\ndef sep():\n    return os.sep\n"],
    ],
    theirs: [
      ["import math\n", "import math\nimport json\n"],
      ["return math.pi", "json.dumps(r)\n    return math.pi"],
    ],
    holds: ["sep() == '/'", "area(1) > 3", "__doc__ == 'Shapes.'"],
  },
  {
    name: "both sides add a name to a from-import",
    language,
    base: "from math import pi\n\nX = pi\n",
    ours: [
      ["import pi", "import pi, sqrt"],
      ["", "\n\ndef r():\n    return sqrt(4)\n"],
    ],
    theirs: [
      ["import pi", "import pi, floor"],
      ["X = pi", "X = floor(pi)"],
    ],
    holds: ["X == 3", "r() == 2"],
  },
  {
    name: "one side breaks a from-import over lines while the other adds a name",
    language,
    base: "from math import pi\n\nX = pi\n",
    ours: [
      ["import pi", "import (\n    pi,\n    sqrt,\n)"],
      ["", "\n\ndef r():\n    return sqrt(4)\n"],
    ],
    theirs: [
      ["import pi", "import pi, floor"],
      ["X = pi", "X = floor(pi)"],
    ],
    holds: ["X == 3", "r() == 2"],
  },
  {
    name: "both sides begin to import from one module",
    language,
    base: "X = 1\n",
    ours: [["X = 1\n", "from math import pi\n\nX = 1\nP = pi\n"]],
    theirs: [["X = 1\n", "from math import sqrt\n\nX = 1\n\n\ndef r():\n    return sqrt(4)\n"]],
    holds: ["P > 3", "r() == 2"],
    once: ["from math"],
  },
  {
    name: "both sides add a method",
    language,
    base: cls,
    ours: [["", "\n    def size(self):\n        return len(self.items)\n"]],
    theirs: [["", "\n    @property\n    def first(self):\n        return self.items[0]\n"]],
    holds: ["(lambda b: (b.add(4), b.size(), b.first))(Box()) == (None, 1, 4)"],
  },
  {
    name: "both sides add a method in the middle and a function at the end",
    language,
    base: cls,
    ours: [
      ["    def add(", "    def size(self):\n        return len(self.items)\n\n    def add("],
      ["", "\n\ndef make():\n    return Box()\n"],
    ],
    theirs: [
      ["    def add(", "    def clear(self):\n        self.items = []\n\n    def add("],
      ["", "\n\ndef none():\n    return None\n"],
    ],
    holds: ["make().size() == 0", "make().clear() is None", "none() is None"],
  },
  {
    name: "both sides add a plain class attribute",
    language,
    base: cls,
    ours: [["limit = 3\n", "limit = 3\n    name = 'box'\n"]],
    theirs: [["limit = 3\n", "limit = 3\n    tags = ()\n"]],
    holds: ["Box.name == 'box'", "Box.tags == ()", "Box.limit == 3"],
  },
  {
    name: "both sides add a field to a dataclass",
    language,
    base: "from dataclasses import dataclass\n\n\n@dataclass\nclass P:\n    x: int\n",
    ours: [["x: int\n", "x: int\n    y: int = 0\n"]],
    theirs: [["x: int\n", "x: int\n    z: int = 0\n"]],
  },
  {
    name: "a dataclass with a new field on one side and a new maker on the other",
    language,
    base: "from dataclasses import dataclass\n\n\n@dataclass\nclass P:\n    x: int\n",
    ours: [["    x: int\n", "    w: int\n    x: int\n"]],
    theirs: [["", "\n\ndef origin():\n    return P(0)\n"]],
  },
  {
    name: "an enum that counts by itself",
    language,
    base: "from enum import Enum, auto\n\n\nclass E(Enum):\n    A = auto()\n",
    ours: [["A = auto()\n", "A = auto()\n    B = auto()\n"]],
    theirs: [["A = auto()\n", "A = auto()\n    C = auto()\n"]],
  },
  {
    name: "an enum with values of its own",
    language,
    base: "from enum import Enum\n\n\nclass E(Enum):\n    A = 'a'\n",
    ours: [["A = 'a'\n", "A = 'a'\n    B = 'b'\n"]],
    theirs: [["A = 'a'\n", "A = 'a'\n    C = 'c'\n"]],
    holds: ["E('b') is E.B", "E('c') is E.C"],
  },
  {
    name: "an enum in which both sides take one number",
    language,
    base: "from enum import Enum\n\n\nclass E(Enum):\n    A = 1\n    B = 2\n",
    ours: [["B = 2\n", "B = 2\n    C = 3\n"]],
    theirs: [["B = 2\n", "B = 2\n    D = 3\n"]],
  },
  {
    name: "both sides add a key to a dictionary",
    language,
    base: "D = {\n    'a': 1,\n}\n",
    ours: [["'a': 1,\n", "'a': 1,\n    'b': 2,\n"]],
    theirs: [["'a': 1,\n", "'a': 1,\n    'c': 3,\n"]],
    holds: ["D == {'a': 1, 'b': 2, 'c': 3}"],
  },
  {
    name: "both sides add one key to a dictionary",
    language,
    base: "D = {\n    'a': 1,\n}\n",
    ours: [["'a': 1,\n", "'a': 1,\n    'b': 2,\n"]],
    theirs: [["'a': 1,\n", "'a': 1,\n    \"b\": 3,\n"]],
  },
  {
    name: "both sides add a name to __all__",
    language,
    base: '__all__ = ["area"]\n\n\ndef area():\n    return 1\n',
    ours: [
      ['"area"]', '"area", "b"]'],
      ["", "\n\ndef b():\n    return 2\n"],
    ],
    theirs: [
      ['"area"]', '"area", "c"]'],
      ["", "\n\ndef c():\n    return 3\n"],
    ],
    holds: ["sorted(__all__) == ['area', 'b', 'c']", "b() == 2", "c() == 3"],
  },
  {
    name: "both sides run something at the end of the module",
    language,
    base: "seen = []\nseen.append(1)\n",
    ours: [["", "seen.append(2)\n"]],
    theirs: [["", "seen.append(3)\n"]],
  },
  {
    name: "one side adds a function before the main block, the other changes it",
    language,
    base: "def run():\n    return 1\n\n\nif __name__ == '__main__':\n    run()\n",
    ours: [["if __name__", "def stop():\n    return 0\n\n\nif __name__"]],
    theirs: [["    run()\n", "    print(run())\n"]],
    holds: ["stop() == 0", "run() == 1"],
    once: ["print(run())"],
  },
  {
    name: "both sides add a route, whose order decides which one answers",
    language,
    base: "@app.get('/a')\ndef a():\n    return 1\n",
    ours: [["", "\n\n@app.get('/users/{id}')\ndef user(id):\n    return 2\n"]],
    theirs: [["", "\n\n@app.get('/users/me')\ndef me():\n    return 3\n"]],
  },
  {
    name: "both sides change the docstring",
    language,
    base: cls,
    ours: [["Holds things.", "Holds many things."]],
    theirs: [["Holds things.", "Keeps things."]],
  },
  {
    name: "one side renames an attribute that the other newly reads",
    language,
    base: cls,
    ours: [
      ["self.items = []", "self.things = []"],
      ["self.items.append", "self.things.append"],
    ],
    theirs: [["    def add(", "    def size(self):\n        return len(self.items)\n\n    def add("]],
  },
  {
    name: "a new required parameter on one side, a new call on the other",
    language,
    base,
    ours: [["def area(r)", "def area(r, unit)"]],
    theirs: [["", "\n\ndef big():\n    return area(10)\n"]],
  },
  {
    name: "an import dropped by one side and newly used by the other",
    language,
    base: "import json\nimport os\n\n\ndef a():\n    return os.sep\n",
    ours: [
      ["import json\n", ""],
      ["", "\n\ndef b():\n    return 1\n"],
    ],
    theirs: [["", "\n\ndef c():\n    return json.dumps({})\n"]],
  },
  {
    name: "a class body that says pass, filled by both sides",
    language,
    base: "class A:\n    pass\n",
    ours: [["    pass\n", "    def a(self):\n        return 1\n"]],
    theirs: [["    pass\n", "    def b(self):\n        return 2\n"]],
    holds: ["A().a() == 1", "A().b() == 2"],
  },
  {
    name: "a decorator added by one side, the body changed by the other",
    language,
    base: "import functools\n\n\ndef slow(x):\n    return x\n",
    ours: [["def slow", "@functools.cache\ndef slow"]],
    theirs: [["return x", "return x + 1"]],
    holds: ["slow(1) == 2", "slow.cache_info().misses == 1"],
  },
  {
    name: "a block indented by one side and edited by the other",
    language,
    base: "def f(x):\n    a = x\n    b = a\n    return b\n",
    ours: "def f(x):\n    with open(x):\n        a = x\n        b = a\n        return b\n",
    theirs: [["b = a", "b = a + 1"]],
  },
];
