import { type Case, edit, refuse } from "./case.ts";

const manifest = `{
  "name": "garden",
  "version": "1.0.0",
  "scripts": {
    "build": "tsc",
    "test": "bun test"
  },
  "dependencies": {
    "express": "^4.0.0",
    "zod": "^3.0.0"
  },
  "keywords": ["plants", "water", "sun"]
}
`;
const value = {
  name: "garden",
  version: "1.0.0",
  scripts: { build: "tsc", test: "bun test" },
  dependencies: { express: "^4.0.0", zod: "^3.0.0" },
  keywords: ["plants", "water", "sun"],
};

const settings = `{
  // how the compiler reads
  "compilerOptions": {
    "strict": true, // always
    "target": "ES2020"
  },
  "include": ["src"],
}
`;

const rules = `{
  "rules": [
    { "id": "a", "level": 1, "on": true },
    { "id": "b", "level": 2, "on": true },
    { "id": "c", "level": 3, "on": true }
  ]
}
`;

const at = (pairs: readonly (readonly [string, string])[], text = manifest): string => edit(text, ...pairs);

export const jsonCases: readonly Case[] = [
  {
    name: "both add a dependency at the end",
    path: "package.json",
    base: manifest,
    ours: at([['"zod": "^3.0.0"', '"zod": "^3.0.0",\n    "zustand": "^5.0.0"']]),
    theirs: at([['"zod": "^3.0.0"', '"zod": "^3.0.0",\n    "zx": "^8.0.0"']]),
    expect: { ...value, dependencies: { ...value.dependencies, zustand: "^5.0.0", zx: "^8.0.0" } },
  },
  {
    name: "both add a dependency at the same place in the middle",
    path: "package.json",
    base: manifest,
    ours: at([['    "zod"', '    "lodash": "^4.1.0",\n    "zod"']]),
    theirs: at([['    "zod"', '    "hono": "^4.2.0",\n    "zod"']]),
    expect: { ...value, dependencies: { ...value.dependencies, lodash: "^4.1.0", hono: "^4.2.0" } },
  },
  {
    name: "both add the same dependency in the same range",
    path: "package.json",
    base: manifest,
    ours: at([
      ['    "zod"', '    "hono": "^4.2.0",\n    "zod"'],
      ['"1.0.0"', '"1.1.0"'],
    ]),
    theirs: at([['    "zod"', '    "hono": "^4.2.0",\n    "ky": "1",\n    "zod"']]),
    expect: { ...value, version: "1.1.0", dependencies: { ...value.dependencies, hono: "^4.2.0", ky: "1" } },
  },
  {
    name: "both add the same dependency in different ranges",
    path: "package.json",
    base: manifest,
    ours: at([['    "zod"', '    "hono": "^4.2.0",\n    "zod"']]),
    theirs: at([['    "zod"', '    "hono": "^4.3.0",\n    "zod"']]),
    expect: refuse,
  },
  {
    name: "neighbouring keys changed by one side each",
    path: "package.json",
    base: manifest,
    ours: at([['"express": "^4.0.0"', '"express": "^5.0.0"']]),
    theirs: at([['"zod": "^3.0.0"', '"zod": "^4.0.0"']]),
    expect: { ...value, dependencies: { express: "^5.0.0", zod: "^4.0.0" } },
  },
  {
    name: "one range changed to two others",
    path: "package.json",
    base: manifest,
    ours: at([['"zod": "^3.0.0"', '"zod": "^3.1.0"']]),
    theirs: at([['"zod": "^3.0.0"', '"zod": "^4.0.0"']]),
    expect: refuse,
  },
  {
    name: "one side removes a dependency next to one the other adds",
    path: "package.json",
    base: manifest,
    ours: at([['    "express": "^4.0.0",\n', ""]]),
    theirs: at([
      ['"zod": "^3.0.0"', '"zod": "^3.0.0",\n    "zx": "^8.0.0"'],
      ['"test": "bun test"', '"test": "vitest"'],
    ]),
    expect: {
      ...value,
      scripts: { build: "tsc", test: "vitest" },
      dependencies: { zod: "^3.0.0", zx: "^8.0.0" },
    },
  },
  {
    name: "one side removes the last dependency, the other adds after it",
    path: "package.json",
    base: manifest,
    ours: at([['"^4.0.0",\n    "zod": "^3.0.0"', '"^4.0.0"']]),
    theirs: at([['"zod": "^3.0.0"', '"zod": "^3.0.0",\n    "zx": "^8.0.0"']]),
    expect: { ...value, dependencies: { express: "^4.0.0", zx: "^8.0.0" } },
  },
  {
    name: "one side removes what the other changes",
    path: "package.json",
    base: manifest,
    ours: at([['"^4.0.0",\n    "zod": "^3.0.0"', '"^4.0.0"']]),
    theirs: at([['"zod": "^3.0.0"', '"zod": "^4.0.0"']]),
    expect: refuse,
  },
  {
    name: "one side removes the map in which the other adds",
    path: "package.json",
    base: manifest,
    ours: at([['  "dependencies": {\n    "express": "^4.0.0",\n    "zod": "^3.0.0"\n  },\n', ""]]),
    theirs: at([['    "zod"', '    "hono": "^4.2.0",\n    "zod"']]),
    expect: refuse,
  },
  {
    name: "both add a script of another name",
    path: "package.json",
    base: manifest,
    ours: at([['"test": "bun test"', '"test": "bun test",\n    "lint": "biome check"']]),
    theirs: at([['"test": "bun test"', '"test": "bun test",\n    "docs": "typedoc"']]),
    expect: { ...value, scripts: { ...value.scripts, lint: "biome check", docs: "typedoc" } },
  },
  {
    name: "both add a top-level block at the end",
    path: "package.json",
    base: manifest,
    ours: at([['"sun"]', '"sun"],\n  "engines": {\n    "node": ">=20"\n  }']]),
    theirs: at([['"sun"]', '"sun"],\n  "bin": {\n    "garden": "cli.js"\n  }']]),
    expect: { ...value, engines: { node: ">=20" }, bin: { garden: "cli.js" } },
  },
  {
    name: "both add the same block with different contents",
    path: "package.json",
    base: manifest,
    ours: at([['"sun"]', '"sun"],\n  "engines": {\n    "node": ">=20"\n  }']]),
    theirs: at([['"sun"]', '"sun"],\n  "engines": {\n    "node": ">=22"\n  }']]),
    expect: refuse,
  },
  {
    name: "both add devDependencies",
    path: "package.json",
    base: manifest,
    ours: at([['  "keywords"', '  "devDependencies": {\n    "a": "1"\n  },\n  "keywords"']]),
    theirs: at([['  "keywords"', '  "devDependencies": {\n    "b": "2"\n  },\n  "keywords"']]),
    expect: { ...value, devDependencies: { a: "1", b: "2" } },
  },
  {
    name: "both append to one list",
    path: "package.json",
    base: manifest,
    ours: at([['"sun"]', '"sun", "soil"]']]),
    theirs: at([['"sun"]', '"sun", "rain"]']]),
    expect: refuse,
  },
  {
    name: "a list in one line changed at its two ends",
    path: "package.json",
    base: manifest,
    ours: at([['["plants"', '["flowers", "plants"']]),
    theirs: at([['"sun"]', '"sun", "rain"]']]),
    expect: { ...value, keywords: ["flowers", "plants", "water", "sun", "rain"] },
  },
  {
    name: "one side removes an item that the other moves",
    path: "package.json",
    base: manifest,
    ours: at([['["plants", "water", "sun"]', '["water", "sun"]']]),
    theirs: at([['["plants", "water", "sun"]', '["water", "sun", "plants"]']]),
    expect: refuse,
  },
  {
    name: "both rename one key differently",
    path: "package.json",
    base: manifest,
    ours: at([['"build": "tsc"', '"compile": "tsc"']]),
    theirs: at([['"build": "tsc"', '"make": "tsc"']]),
    expect: refuse,
  },
  {
    name: "one side renames a key that the other removes",
    path: "package.json",
    base: manifest,
    ours: at([['"build": "tsc"', '"compile": "tsc"']]),
    theirs: at([['    "build": "tsc",\n', ""]]),
    expect: refuse,
  },
  {
    name: "one side renames a key that the other changes",
    path: "package.json",
    base: manifest,
    ours: at([['"build": "tsc"', '"compile": "tsc"']]),
    theirs: at([['"build": "tsc"', '"build": "tsc -b"']]),
    expect: refuse,
  },
  {
    name: "comments of both sides stay",
    path: "tsconfig.json",
    base: settings,
    ours: at([['"target": "ES2020"', '"target": "ES2020",\n    // paths\n    "baseUrl": "."']], settings),
    theirs: at([['"target": "ES2020"', '"target": "ES2020",\n    "noEmit": true // for checks']], settings),
    expect: {
      compilerOptions: { strict: true, target: "ES2020", baseUrl: ".", noEmit: true },
      include: ["src"],
    },
  },
  {
    name: "both change the comment on one line",
    path: "tsconfig.json",
    base: settings,
    ours: at([["// always", "// never off"]], settings),
    theirs: at([["// always", "// by rule"]], settings),
    expect: refuse,
  },
  {
    name: "one side changes a value, the other the comment beside its neighbour",
    path: "tsconfig.json",
    base: settings,
    ours: at([["ES2020", "ES2022"]], settings),
    theirs: at([["// always", "// by rule"]], settings),
    expect: { compilerOptions: { strict: true, target: "ES2022" }, include: ["src"] },
  },
  {
    name: "items known by id, changed in different fields",
    path: "rules.json",
    base: rules,
    ours: at([['"b", "level": 2', '"b", "level": 5']], rules),
    theirs: at([['"level": 2, "on": true', '"level": 2, "on": false']], rules),
    expect: {
      rules: [
        { id: "a", level: 1, on: true },
        { id: "b", level: 5, on: false },
        { id: "c", level: 3, on: true },
      ],
    },
  },
  {
    name: "neighbouring items known by id, one changed by each side",
    path: "rules.json",
    base: rules,
    ours: at([['"a", "level": 1', '"a", "level": 9']], rules),
    theirs: at([['"level": 2, "on": true', '"level": 2, "on": false']], rules),
    expect: {
      rules: [
        { id: "a", level: 9, on: true },
        { id: "b", level: 2, on: false },
        { id: "c", level: 3, on: true },
      ],
    },
  },
  {
    name: "both append an item",
    path: "rules.json",
    base: rules,
    ours: at(
      [['"level": 3, "on": true }', '"level": 3, "on": true },\n    { "id": "d", "level": 4, "on": true }']],
      rules,
    ),
    theirs: at(
      [['"level": 3, "on": true }', '"level": 3, "on": true },\n    { "id": "e", "level": 5, "on": true }']],
      rules,
    ),
    expect: refuse,
  },
  {
    name: "both add an item with the same id at different places",
    path: "rules.json",
    base: rules,
    ours: at([['    { "id": "a"', '    { "id": "x", "level": 0, "on": true },\n    { "id": "a"']], rules),
    theirs: at(
      [['"level": 3, "on": true }', '"level": 3, "on": true },\n    { "id": "x", "level": 5, "on": true }']],
      rules,
    ),
    expect: refuse,
  },
  {
    name: "a key stands twice on one side",
    path: "a.json",
    base: '{\n  "a": 1,\n  "b": 2\n}\n',
    ours: '{\n  "a": 1,\n  "b": 2,\n  "b": 3\n}\n',
    theirs: '{\n  "a": 2,\n  "b": 2\n}\n',
    expect: refuse,
  },
  {
    name: "compact objects in one line",
    path: "a.json",
    base: '{"a":1,"b":{"c":1}}',
    ours: '{"a":1,"b":{"c":1,"d":2}}',
    theirs: '{"a":2,"b":{"c":1,"e":3},"f":[]}',
    expect: { a: 2, b: { c: 1, d: 2, e: 3 }, f: [] },
  },
  {
    name: "numbers that no computer number holds",
    path: "a.json",
    base: '{\n  "id": 1,\n  "n": 2\n}\n',
    ours: '{\n  "id": 12345678901234567890,\n  "n": 2\n}\n',
    theirs: '{\n  "id": 1,\n  "n": 2.50\n}\n',
    expect: { id: 12345678901234567000, n: 2.5 },
  },
  {
    name: "a scalar changed by one side, made a map by the other",
    path: "a.json",
    base: '{\n  "bin": "a.js"\n}\n',
    ours: '{\n  "bin": "b.js"\n}\n',
    theirs: '{\n  "bin": { "a": "a.js" }\n}\n',
    expect: refuse,
  },
  {
    name: "conditions of exports added at the same place",
    path: "package.json",
    base: '{\n  "exports": {\n    "import": "./a.mjs",\n    "default": "./a.js"\n  }\n}\n',
    ours: '{\n  "exports": {\n    "import": "./a.mjs",\n    "require": "./a.cjs",\n    "default": "./a.js"\n  }\n}\n',
    theirs: '{\n  "exports": {\n    "import": "./a.mjs",\n    "bun": "./a.ts",\n    "default": "./a.js"\n  }\n}\n',
    expect: refuse,
  },
  {
    name: "one package needed for running by one side, for developing by the other",
    path: "package.json",
    base: '{\n  "dependencies": {\n    "a": "1"\n  },\n  "devDependencies": {\n    "b": "1"\n  }\n}\n',
    ours: '{\n  "dependencies": {\n    "a": "1",\n    "z": "1"\n  },\n  "devDependencies": {\n    "b": "1"\n  }\n}\n',
    theirs: '{\n  "dependencies": {\n    "a": "1"\n  },\n  "devDependencies": {\n    "b": "1",\n    "z": "2"\n  }\n}\n',
    expect: refuse,
  },
  {
    name: "one side moves a dependency that the other changes",
    path: "package.json",
    base: '{\n  "dependencies": {\n    "a": "1",\n    "z": "1"\n  },\n  "devDependencies": {\n    "b": "1"\n  }\n}\n',
    ours: '{\n  "dependencies": {\n    "a": "1"\n  },\n  "devDependencies": {\n    "b": "1",\n    "z": "1"\n  }\n}\n',
    theirs: '{\n  "dependencies": {\n    "a": "1",\n    "z": "2"\n  },\n  "devDependencies": {\n    "b": "1"\n  }\n}\n',
    expect: refuse,
  },
  {
    name: "both move one setting to different places",
    path: "a.json",
    base: '{\n  "x": {\n    "limit": 5,\n    "k": 1\n  },\n  "y": {\n    "m": 1\n  },\n  "z": {\n    "n": 1\n  }\n}\n',
    ours: '{\n  "x": {\n    "k": 1\n  },\n  "y": {\n    "m": 1,\n    "limit": 5\n  },\n  "z": {\n    "n": 1\n  }\n}\n',
    theirs:
      '{\n  "x": {\n    "k": 1\n  },\n  "y": {\n    "m": 1\n  },\n  "z": {\n    "n": 1,\n    "limit": 5\n  }\n}\n',
    expect: refuse,
  },
  {
    name: "one side's file is no JSON",
    path: "a.json",
    base: '{\n  "a": 1\n}\n',
    ours: '{\n  "a": 1,\n  "b": \n}\n',
    theirs: '{\n  "a": 2\n}\n',
    expect: refuse,
  },
  {
    name: "one side indents anew, the other changes values",
    path: "a.json",
    base: '{\n  "a": 1,\n  "b": { "c": 1 }\n}\n',
    ours: '{\n    "a": 1,\n    "b": { "c": 1 }\n}\n',
    theirs: '{\n  "a": 1,\n  "b": { "c": 2 },\n  "d": {\n    "e": 5\n  }\n}\n',
    expect: { a: 1, b: { c: 2 }, d: { e: 5 } },
  },
  {
    name: "windows line ends and no final newline follow ours",
    path: "a.json",
    base: '{\n  "a": 1\n}\n',
    ours: '{\r\n  "a": 1,\r\n  "b": 2\r\n}',
    theirs: '{\n  "a": 1,\n  "c": 3\n}\n',
    expect: { a: 1, b: 2, c: 3 },
  },
];
