import { type Case, edit, refuse } from "./case.ts";

const workflow = `name: ci
on:
  push:
    branches: [main]
env:
  CI: "1"
jobs:
  # builds everything
  build:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - name: Install
        run: npm ci
      - name: Test
        run: |
          npm test
          npm run lint
`;
const steps = [
  { uses: "actions/checkout@v4" },
  { name: "Install", run: "npm ci" },
  { name: "Test", run: "npm test\nnpm run lint\n" },
];
const flow = {
  name: "ci",
  on: { push: { branches: ["main"] } },
  env: { CI: "1" },
  jobs: { build: { "runs-on": "ubuntu-latest", steps } },
};

const compose = `services:
  web:
    image: web:1
    ports:
      - "80:80"
  db:
    image: postgres:15
volumes:
  data:
`;

const api = `openapi: 3.0.0
paths:
  /plants:
    get:
      summary: List plants
      responses:
        "200":
          description: OK
components:
  schemas:
    Plant:
      type: object
      properties:
        id: { type: string }
`;
const listPlants = { summary: "List plants", responses: { "200": { description: "OK" } } };

const on = (base: string, ...pairs: readonly (readonly [string, string])[]): string => edit(base, ...pairs);

export const yamlCases: readonly Case[] = [
  {
    name: "both append a job",
    path: ".github/workflows/ci.yml",
    base: workflow,
    ours: `${workflow}  lint:\n    runs-on: ubuntu-latest\n`,
    theirs: `${workflow}  # slow\n  docs:\n    runs-on: macos-latest\n`,
    expect: {
      ...flow,
      jobs: { ...flow.jobs, lint: { "runs-on": "ubuntu-latest" }, docs: { "runs-on": "macos-latest" } },
    },
  },
  {
    name: "both append a step",
    path: ".github/workflows/ci.yml",
    base: workflow,
    ours: `${workflow}      - run: echo a\n`,
    theirs: `${workflow}      - run: echo b\n`,
    expect: refuse,
  },
  {
    name: "neighbouring steps known by name changed by one side each",
    path: ".github/workflows/ci.yml",
    base: workflow,
    ours: on(workflow, ["run: npm ci", "run: npm ci --ignore-scripts"]),
    theirs: on(workflow, ["        run: |\n", "        timeout-minutes: 5\n        run: |\n"]),
    expect: {
      ...flow,
      jobs: {
        build: {
          "runs-on": "ubuntu-latest",
          steps: [
            steps[0],
            { name: "Install", run: "npm ci --ignore-scripts" },
            { name: "Test", "timeout-minutes": 5, run: "npm test\nnpm run lint\n" },
          ],
        },
      },
    },
  },
  {
    name: "both change one script",
    path: ".github/workflows/ci.yml",
    base: workflow,
    ours: on(workflow, ["npm test\n", "npm test -- --ci\n"]),
    theirs: on(workflow, ["npm run lint\n", "npm run lint:all\n"]),
    expect: refuse,
  },
  {
    name: "both add a variable and one changes its neighbour",
    path: ".github/workflows/ci.yml",
    base: workflow,
    ours: on(workflow, ['  CI: "1"\n', '  CI: "1"\n  NODE: "20"\n']),
    theirs: on(workflow, ['  CI: "1"\n', '  CI: "true"\n  TZ: UTC\n']),
    expect: { ...flow, env: { CI: "true", NODE: "20", TZ: "UTC" } },
  },
  {
    name: "one branch list in flow style changed by both",
    path: ".github/workflows/ci.yml",
    base: workflow,
    ours: on(workflow, ["[main]", "[main, dev]"]),
    theirs: on(workflow, ["[main]", "[main, next]"]),
    expect: refuse,
  },
  {
    name: "both add another trigger",
    path: ".github/workflows/ci.yml",
    base: workflow,
    ours: on(workflow, ["branches: [main]\n", "branches: [main]\n  pull_request:\n"]),
    theirs: on(workflow, ["branches: [main]\n", "branches: [main]\n  workflow_dispatch: {}\n"]),
    expect: { ...flow, on: { ...flow.on, pull_request: null, workflow_dispatch: {} } },
  },
  {
    name: "both add a service",
    path: "docker-compose.yml",
    base: compose,
    ours: on(compose, ["volumes:\n", "  cache:\n    image: redis:7\nvolumes:\n"]),
    theirs: on(compose, ["volumes:\n", "  queue:\n    image: rabbit:3\n    ports: [5672]\nvolumes:\n"]),
    expect: {
      services: {
        web: { image: "web:1", ports: ["80:80"] },
        db: { image: "postgres:15" },
        cache: { image: "redis:7" },
        queue: { image: "rabbit:3", ports: [5672] },
      },
      volumes: { data: null },
    },
  },
  {
    name: "both add the same service differently",
    path: "docker-compose.yml",
    base: compose,
    ours: on(compose, ["volumes:\n", "  cache:\n    image: redis:7\nvolumes:\n"]),
    theirs: on(compose, ["volumes:\n", "  cache:\n    image: valkey:8\nvolumes:\n"]),
    expect: refuse,
  },
  {
    name: "one side deletes the service the other changes",
    path: "docker-compose.yml",
    base: compose,
    ours: on(compose, ["  db:\n    image: postgres:15\n", ""]),
    theirs: on(compose, ["postgres:15", "postgres:16"]),
    expect: refuse,
  },
  {
    name: "one side deletes a service, the other adds one after it",
    path: "docker-compose.yml",
    base: compose,
    ours: on(compose, ["  db:\n    image: postgres:15\n", ""]),
    theirs: on(compose, ["postgres:15\n", "postgres:15\n  cache:\n    image: redis:7\n"]),
    expect: {
      services: { web: { image: "web:1", ports: ["80:80"] }, cache: { image: "redis:7" } },
      volumes: { data: null },
    },
  },
  {
    name: "image of one service changed by both",
    path: "docker-compose.yml",
    base: compose,
    ours: on(compose, ["web:1", "web:2"]),
    theirs: on(compose, ["web:1", "web:3"]),
    expect: refuse,
  },
  {
    name: "both add a key to the empty volume list end",
    path: "docker-compose.yml",
    base: compose,
    ours: `${compose}  logs:\n`,
    theirs: `${compose}  cache: { driver: local }\n`,
    expect: {
      services: { web: { image: "web:1", ports: ["80:80"] }, db: { image: "postgres:15" } },
      volumes: { data: null, logs: null, cache: { driver: "local" } },
    },
  },
  {
    name: "both add a path to an API",
    path: "openapi.yaml",
    base: api,
    ours: on(api, ["components:\n", "  /pots:\n    get:\n      summary: Pots\ncomponents:\n"]),
    theirs: on(api, ["components:\n", "  /seeds:\n    get:\n      summary: Seeds\ncomponents:\n"]),
    expect: {
      openapi: "3.0.0",
      paths: {
        "/plants": { get: listPlants },
        "/pots": { get: { summary: "Pots" } },
        "/seeds": { get: { summary: "Seeds" } },
      },
      components: { schemas: { Plant: { type: "object", properties: { id: { type: "string" } } } } },
    },
  },
  {
    name: "both add a method to one path and a property to one schema",
    path: "openapi.yaml",
    base: api,
    ours: on(
      api,
      ["components:\n", "    post:\n      summary: New\ncomponents:\n"],
      ["{ type: string }\n", "{ type: string }\n        name: { type: string }\n"],
    ),
    theirs: on(
      api,
      ["components:\n", "    delete:\n      summary: Gone\ncomponents:\n"],
      ["{ type: string }\n", "{ type: string }\n        age: { type: integer }\n"],
    ),
    expect: {
      openapi: "3.0.0",
      paths: { "/plants": { get: listPlants, post: { summary: "New" }, delete: { summary: "Gone" } } },
      components: {
        schemas: {
          Plant: {
            type: "object",
            properties: { id: { type: "string" }, name: { type: "string" }, age: { type: "integer" } },
          },
        },
      },
    },
  },
  {
    name: "flow maps changed by both at different keys",
    path: "a.yaml",
    base: "a: { x: 1, y: 2 }\nb: [1, 2, 3]\n",
    ours: "a: { x: 1, y: 2, z: 3 }\nb: [0, 1, 2, 3]\n",
    theirs: "a: { x: 5, y: 2 }\nb: [1, 2, 3, 4]\n",
    expect: { a: { x: 5, y: 2, z: 3 }, b: [0, 1, 2, 3, 4] },
  },
];
