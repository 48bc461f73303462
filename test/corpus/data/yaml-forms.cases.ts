import { type Case, edit, refuse } from "./case.ts";

const anchored = `base: &base
  image: node
  restart: always
a:
  <<: *base
  name: a
b:
  name: b
`;

const image = { image: "node", restart: "always" };
const heirs = { base: image, a: { "<<": image, name: "a" }, b: { name: "b" } };

const stack = `apiVersion: v1
kind: Service
metadata:
  name: web
spec:
  port: 80
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
data:
  a: "1"
`;

const on = (base: string, ...pairs: readonly (readonly [string, string])[]): string => edit(base, ...pairs);

/** Anchors, tags, several documents, and the many ways of writing one thing. */
export const yamlFormCases: readonly Case[] = [
  {
    name: "both change what an anchor stands for",
    path: "a.yaml",
    base: anchored,
    ours: on(anchored, ["image: node", "image: node:20"]),
    theirs: on(anchored, ["restart: always", "restart: never"]),
    expect: refuse,
  },
  {
    name: "both add at the end, one with an alias",
    path: "a.yaml",
    base: anchored,
    ours: `${anchored}c:\n  <<: *base\n`,
    theirs: `${anchored}d:\n  name: d\n`,
    expect: { ...heirs, c: { "<<": image }, d: { name: "d" } },
  },
  {
    name: "one side changes an anchor, both add at the end, one with an alias of it",
    path: "a.yaml",
    base: anchored,
    ours: `${on(anchored, ["image: node", "image: node:20"])}c:\n  name: c\n`,
    theirs: `${anchored}d:\n  <<: *base\n`,
    expect: refuse,
  },
  {
    name: "one side removes an anchor the other uses anew",
    path: "a.yaml",
    base: "x: &x 1\ny: 2\nz: 3\nw: 4\n",
    ours: "x: 1\ny: 2\nz: 3\nw: 4\n",
    theirs: "x: &x 1\ny: 2\nz: 3\nw: *x\n",
    expect: refuse,
  },
  {
    name: "tagged values added by both",
    path: "template.yaml",
    base: "Resources:\n  A: !Ref x\n",
    ours: "Resources:\n  A: !Ref x\n  B: !Ref y\n",
    theirs: "Resources:\n  A: !Ref x\n  C: !GetAtt z\n",
    expect: { Resources: { A: "x", B: "y", C: "z" } },
  },
  {
    name: "both put the same value under another tag",
    path: "template.yaml",
    base: "A: !Ref x\nB: 1\n",
    ours: "A: !Sub x\nB: 1\n",
    theirs: "A: !GetAtt x\nB: 1\n",
    expect: refuse,
  },
  {
    name: "different documents of one file changed",
    path: "k8s.yaml",
    base: stack,
    ours: on(stack, ["port: 80", "port: 8080"]),
    theirs: on(stack, ['a: "1"', 'a: "2"']),
    expect: [
      { apiVersion: "v1", kind: "Service", metadata: { name: "web" }, spec: { port: 8080 } },
      { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "settings" }, data: { a: "2" } },
    ],
  },
  {
    name: "both add a key to the last document",
    path: "k8s.yaml",
    base: stack,
    ours: `${stack}  b: "2"\n`,
    theirs: `${stack}  c: "3"\n`,
    expect: [
      { apiVersion: "v1", kind: "Service", metadata: { name: "web" }, spec: { port: 80 } },
      { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "settings" }, data: { a: "1", b: "2", c: "3" } },
    ],
  },
  {
    name: "both append another document",
    path: "k8s.yaml",
    base: stack,
    ours: `${stack}---\nkind: A\nmetadata:\n  name: a\n`,
    theirs: `${stack}---\nkind: B\nmetadata:\n  name: b\n`,
    expect: [
      { apiVersion: "v1", kind: "Service", metadata: { name: "web" }, spec: { port: 80 } },
      { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "settings" }, data: { a: "1" } },
      { kind: "A", metadata: { name: "a" } },
      { kind: "B", metadata: { name: "b" } },
    ],
  },
  {
    name: "a key both sides add in two places",
    path: "a.yaml",
    base: "a: 1\nb: 2\nc: 3\nd: 4\n",
    ours: "x: 1\na: 1\nb: 2\nc: 3\nd: 4\n",
    theirs: "a: 1\nb: 2\nc: 3\nd: 4\nx: 2\n",
    expect: refuse,
  },
  {
    name: "list items at distinct places",
    path: "a.yaml",
    base: "list:\n  - a\n  - b\n  - c\n",
    ours: "list:\n  - first\n  - a\n  - b\n  - c\n",
    theirs: "list:\n  - a\n  - b\n  - c\n  - last\n",
    expect: { list: ["first", "a", "b", "c", "last"] },
  },
  {
    name: "the indentation of a block differs",
    path: "a.yaml",
    base: "a:\n  b: 1\n",
    ours: "a:\n    b: 1\n    c:\n        f: 2\n",
    theirs: "a:\n  b: 1\n  d:\n    e: 1\n",
    expect: refuse,
  },
  {
    name: "quoted and plain scalars are different",
    path: "a.yaml",
    base: "v: 1\nw: 1\n",
    ours: 'v: "1"\nw: 1\n',
    theirs: "v: 2\nw: 1\n",
    expect: refuse,
  },
  {
    name: "both add at the start, below the header of the file",
    path: "a.yaml",
    base: "# licence\n\na: 1\n",
    ours: "# licence\n\nb: 1\na: 1\n",
    theirs: "# licence\n\na: 1\nc: 3\n",
    expect: { b: 1, a: 1, c: 3 },
  },
  {
    name: "an empty value filled by one side beside an addition",
    path: "a.yaml",
    base: "a:\nb: 1\n",
    ours: "a:\n  x: 1\nb: 1\n",
    theirs: "a:\nc: 2\nb: 1\n",
    expect: { a: { x: 1 }, c: 2, b: 1 },
  },
  {
    name: "front end of a list of maps",
    path: "a.yaml",
    base: "- name: a\n  v: 1\n- name: b\n  v: 2\n",
    ours: "- name: a\n  v: 1\n  extra: true\n- name: b\n  v: 2\n",
    theirs: "- name: a\n  v: 3\n- name: b\n  v: 2\n",
    expect: [
      { name: "a", v: 3, extra: true },
      { name: "b", v: 2 },
    ],
  },
];
