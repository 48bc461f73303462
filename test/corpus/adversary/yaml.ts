import type { Triple } from "./triple.ts";

const flow = `name: ci
on:
  push:
    branches: [main]
env:
  NODE: "20"
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: npm ci
      - run: npm test
`;
const flowSaid = {
  name: "ci",
  on: { push: { branches: ["main"] } },
  env: { NODE: "20" },
  jobs: {
    test: {
      "runs-on": "ubuntu-latest",
      steps: [{ uses: "actions/checkout@v4" }, { run: "npm ci" }, { run: "npm test" }],
    },
  },
};
const compose = `services:\n  web:\n    image: web:1\n    ports:\n      - "80:80"\n    environment:\n      A: "1"\n`;
const k8s = `apiVersion: v1\nkind: Service\nmetadata:\n  name: web\nspec:\n  port: 80\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 1\n`;
const api = `openapi: 3.0.0\npaths:\n  /a:\n    get:\n      responses:\n        "200":\n          description: ok\ncomponents:\n  schemas:\n    A:\n      type: object\n      required: [id]\n      properties:\n        id: { type: string }\n`;

export const yaml: readonly Triple[] = [
  {
    name: "both add a job",
    path: ".github/workflows/ci.yml",
    verdict: "merge",
    base: flow,
    ours: [["", `  lint:\n    runs-on: ubuntu-latest\n    steps:\n      - run: npm run lint\n`]],
    theirs: [["", `  docs:\n    runs-on: ubuntu-latest\n    steps:\n      - run: npm run docs\n`]],
    says: {
      ...flowSaid,
      jobs: {
        ...flowSaid.jobs,
        lint: { "runs-on": "ubuntu-latest", steps: [{ run: "npm run lint" }] },
        docs: { "runs-on": "ubuntu-latest", steps: [{ run: "npm run docs" }] },
      },
    },
  },
  {
    name: "both append a step",
    path: ".github/workflows/ci.yml",
    verdict: "refuse",
    base: flow,
    ours: [["", `      - run: npm run build\n`]],
    theirs: [["", `      - run: npm run deploy\n`]],
  },
  {
    name: "one adds a step first, the other last",
    path: ".github/workflows/ci.yml",
    verdict: "merge",
    base: flow,
    ours: [[`      - run: npm ci\n`, `      - uses: actions/setup-node@v4\n      - run: npm ci\n`]],
    theirs: [["", `      - run: npm run build\n`]],
    says: {
      ...flowSaid,
      jobs: {
        test: {
          "runs-on": "ubuntu-latest",
          steps: [
            { uses: "actions/checkout@v4" },
            { uses: "actions/setup-node@v4" },
            { run: "npm ci" },
            { run: "npm test" },
            { run: "npm run build" },
          ],
        },
      },
    },
  },
  {
    name: "both add an environment variable",
    path: ".github/workflows/ci.yml",
    verdict: "merge",
    base: flow,
    ours: [[`  NODE: "20"\n`, `  NODE: "20"\n  CI: "1"\n`]],
    theirs: [[`  NODE: "20"\n`, `  NODE: "20"\n  DEBUG: "0"\n`]],
    says: { ...flowSaid, env: { NODE: "20", CI: "1", DEBUG: "0" } },
  },
  {
    name: "both add a branch to a flow list",
    path: ".github/workflows/ci.yml",
    verdict: "either",
    base: flow,
    ours: [[`[main]`, `[main, dev]`]],
    theirs: [[`[main]`, `[main, next]`]],
    once: ["dev", "next", "main"],
  },
  {
    name: "one pins the runner, the other renames the job",
    path: ".github/workflows/ci.yml",
    verdict: "either",
    base: flow,
    ours: [[`ubuntu-latest`, `ubuntu-22.04`]],
    theirs: [[`  test:\n`, `  unit:\n`]],
    says: { ...flowSaid, jobs: { unit: { ...flowSaid.jobs.test, "runs-on": "ubuntu-22.04" } } },
  },
  {
    name: "both change the action version",
    path: ".github/workflows/ci.yml",
    verdict: "refuse",
    base: flow,
    ours: [[`@v4`, `@v5`]],
    theirs: [[`@v4`, `@v6`]],
  },
  {
    name: "one renames a job, the other makes a new job need it",
    path: ".github/workflows/ci.yml",
    verdict: "refuse",
    base: flow,
    ours: [[`  test:\n`, `  unit:\n`]],
    theirs: [["", `  deploy:\n    needs: test\n    runs-on: ubuntu-latest\n    steps:\n      - run: echo\n`]],
  },
  {
    name: "both add a service",
    path: "docker-compose.yml",
    verdict: "merge",
    base: compose,
    ours: [["", `  db:\n    image: pg:15\n`]],
    theirs: [["", `  cache:\n    image: redis:7\n`]],
    says: {
      services: {
        web: { image: "web:1", ports: ["80:80"], environment: { A: "1" } },
        db: { image: "pg:15" },
        cache: { image: "redis:7" },
      },
    },
  },
  {
    name: "both add a service of one name",
    path: "docker-compose.yml",
    verdict: "refuse",
    base: compose,
    ours: [["", `  db:\n    image: pg:15\n`]],
    theirs: [[`services:\n`, `services:\n  db:\n    image: mysql:8\n`]],
  },
  {
    name: "both change the image tag",
    path: "docker-compose.yml",
    verdict: "refuse",
    base: compose,
    ours: [[`web:1`, `web:2`]],
    theirs: [[`web:1`, `web:3`]],
  },
  {
    name: "both add a port",
    path: "docker-compose.yml",
    verdict: "either",
    base: compose,
    ours: [[`      - "80:80"\n`, `      - "80:80"\n      - "443:443"\n`]],
    theirs: [[`      - "80:80"\n`, `      - "80:80"\n      - "90:90"\n`]],
    once: [`"443:443"`, `"90:90"`, `"80:80"`],
  },
  {
    name: "each side edits its own document",
    path: "k8s.yaml",
    verdict: "merge",
    base: k8s,
    ours: [[`port: 80`, `port: 8080`]],
    theirs: [[`replicas: 1`, `replicas: 3`]],
    says: [
      { apiVersion: "v1", kind: "Service", metadata: { name: "web" }, spec: { port: 8080 } },
      { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web" }, spec: { replicas: 3 } },
    ],
  },
  {
    name: "both append a document",
    path: "k8s.yaml",
    verdict: "merge",
    base: k8s,
    ours: [["", `---\nkind: ConfigMap\nmetadata:\n  name: c\n`]],
    theirs: [["", `---\nkind: Secret\nmetadata:\n  name: s\n`]],
    once: ["kind: ConfigMap", "kind: Secret", "kind: Service", "kind: Deployment"],
  },
  {
    name: "one removes a document, the other edits it",
    path: "k8s.yaml",
    verdict: "refuse",
    base: k8s,
    ours: [[`---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 1\n`, ``]],
    theirs: [[`replicas: 1`, `replicas: 3`]],
  },
  {
    name: "one inserts a document first, the other edits the last",
    path: "k8s.yaml",
    verdict: "merge",
    base: k8s,
    ours: `kind: Namespace\nmetadata:\n  name: n\n---\n${k8s}`,
    theirs: [[`replicas: 1`, `replicas: 3`]],
    says: [
      { kind: "Namespace", metadata: { name: "n" } },
      { apiVersion: "v1", kind: "Service", metadata: { name: "web" }, spec: { port: 80 } },
      { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web" }, spec: { replicas: 3 } },
    ],
  },
  {
    name: "both add a path and a schema",
    path: "openapi.yaml",
    verdict: "merge",
    base: api,
    ours: [
      [`components:\n`, `  /b:\n    get:\n      responses:\n        "200":\n          description: b\ncomponents:\n`],
      ["", `    B:\n      type: string\n`],
    ],
    theirs: [
      [`components:\n`, `  /c:\n    get:\n      responses:\n        "200":\n          description: c\ncomponents:\n`],
      ["", `    C:\n      type: number\n`],
    ],
    once: ["  /b:", "  /c:", "    B:", "    C:", "description: b", "description: c"],
    order: ["/a:", "/b:", "components:", "    A:", "    B:"],
  },
  {
    name: "both add a property and require it",
    path: "openapi.yaml",
    verdict: "either",
    base: api,
    ours: [
      [`[id]`, `[id, name]`],
      ["", `        name: { type: string }\n`],
    ],
    theirs: [
      [`[id]`, `[id, age]`],
      ["", `        age: { type: number }\n`],
    ],
    once: ["name: {", "age: {"],
  },
];
