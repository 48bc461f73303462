import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { cpuTimer } from "../../../testkit/cpu-time.ts";
import { lookAlikes, plantedSecrets, secretSorts } from "../../../testkit/secrets.ts";
import { openKeyAt, redactData, redacted, redactor, secretValues } from "./redact.ts";

const redact = redactor([]);
const key = (lines: readonly string[]): string =>
  ["-----BEGIN OPENSSH PRIVATE KEY-----", ...lines, "-----END OPENSSH PRIVATE KEY-----"].join("\n");

describe("what has the shape of a secret is blotted out, and nothing around it", () => {
  const cases: readonly (readonly [string, string])[] = [
    [`key sk-ant-api03-${"x".repeat(30)}.`, `key ${redacted}.`],
    [`(ghp_${"a1".repeat(18)})`, `(${redacted})`],
    [`github_pat_${"a1_".repeat(20)} glpat-${"z".repeat(20)}`, `${redacted} ${redacted}`],
    [`npm_${"Q".repeat(36)} xoxb-123456-abcdef AIza${"k".repeat(35)}`, `${redacted} ${redacted} ${redacted}`],
    ["id AKIAIOSFODNN7EXAMPLE, ASIAIOSFODNN7EXAMPLE", `id ${redacted}, ${redacted}`],
    [`jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-_1!`, `jwt ${redacted}!`],
    ["authorization: bearer abcdefgh.12345==\n", `authorization: bearer ${redacted}\n`],
    ["git clone https://ann:hunter2@example.org/x.git", `git clone https://ann:${redacted}@example.org/x.git`],
    ["MY_TOKEN=abc DB_PASSWORD='a b' OTHER=1", `MY_TOKEN=${redacted} DB_PASSWORD='${redacted}' OTHER=1`],
    ["A=1&MY_TOKEN=abc,B=2", `A=1&MY_TOKEN=${redacted},B=2`],
    ["x-eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc.def", `x-${redacted}.def`],
    ['{"AWS_SECRET_ACCESS_KEY": "x/y", "a": 1}', `{"AWS_SECRET_ACCESS_KEY": "${redacted}", "a": 1}`],
    [`a\n${key(["AAAA", "BBBB"])}\nb`, `a\n${redacted}\nb`],
    [`${"QUJD".repeat(16)}\n-----END PRIVATE KEY-----\nb`, `${redacted}\nb`],
    [`a\n-----BEGIN RSA PRIVATE KEY-----\nAAAA\nBBBB`, `a\n${redacted}`],
  ];
  for (const [text, expected] of cases)
    test(JSON.stringify(text.slice(0, 40)), () => expect(redact(text)).toBe(expected));

  test("ordinary output stays as it is", () => {
    const text = [
      "PASS src/token.test.ts (12 tests)",
      "expected TOKEN, got KEYWORD at line 3:4",
      "https://example.org:8080/a?b=c user@example.org",
      "-----BEGIN CERTIFICATE-----",
      "sk-ip MONKEY=1 desk-top a1b2c3d4e5f60718293a4b5c6d7e8f9012345678",
    ].join("\n");
    expect(redact(text)).toBe(text);
  });
});

test("output that is made to be looked at again and again is looked at once", () => {
  const parts = [
    "-eyJaaaaaaaa",
    "KEY_",
    "eyJaaaaaaaa.",
    "A=",
    "a",
    "Bearer ",
    "https://a:",
    "-----BEGIN ",
    "TOKEN=\"'",
  ];
  for (const part of parts) {
    const text = part.repeat(1_000_000 / part.length);
    expect(redact(text).length).toBeGreaterThan(0);
  }
});

test("values of variables that are named like secrets go wherever they are, also the longer of two", () => {
  const values = secretValues({ API_KEY: "abcd.efgh", X_TOKEN: "abcd.efgh(ij)+", SHORT_KEY: "abc", HOME: "/home/ann" });
  expect(values).toEqual(["abcd.efgh", "abcd.efgh(ij)+"]);
  expect(redactor(values)("<abcd.efgh(ij)+> abcd.efgh abcdXefgh /home/ann abc")).toBe(
    `<${redacted}> ${redacted} abcdXefgh /home/ann abc`,
  );
});

test("no known value is ever left, whatever surrounds it", () => {
  const value = fc.string({ minLength: 8, maxLength: 30 }).filter((text) => text.trim().length >= 8);
  fc.assert(
    fc.property(fc.array(value, { maxLength: 3 }), fc.string(), fc.string(), (values, before, after) => {
      const text = values.reduce((made, one) => `${made}${one}${after}`, before);
      const left = redactor(values)(text).replaceAll(redacted, "\0");
      for (const one of values) expect(left.includes(one)).toBe(false);
    }),
  );
});

test("a private key that has not ended yet is found where it begins", () => {
  expect(openKeyAt("a\n-----BEGIN PRIVATE KEY-----\nAAAA\n")).toBe(2);
  expect(openKeyAt(key(["AAAA"]))).toBe(-1);
  expect(openKeyAt("-----BEGIN CERTIFICATE-----\nAAAA")).toBe(-1);
});

test("long lines without anything in them are read once, not again and again", () => {
  const computed = cpuTimer();
  for (const unit of ["A", "A_", "a:", "eyJ", "=", "/", "-----BEGIN "]) redact(unit.repeat(300_000 / unit.length));
  // Milliseconds, where reading them again and again takes minutes.
  expect(computed()).toBeLessThan(20_000);
});

describe("made-up secrets of every sort", () => {
  for (const { sort, value, text } of plantedSecrets(secretSorts.length)) {
    test(sort, () => {
      const json = JSON.stringify({ a: `before\n${text}\nafter` });
      const surroundings = [
        text,
        `before ${text} after`,
        `before\n${text}\nafter`,
        json,
        JSON.stringify({ input: json }),
        `echo '${text}' | cat`,
        `echo '${text.replaceAll("'", String.raw`'\\''`)}' | cat`,
        text.replaceAll("\n", " "),
      ];
      for (const strictness of ["said", "composed"] as const) {
        const redact = redactor([], strictness);
        for (const around of surroundings) {
          const left = redact(around);
          expect(left).not.toContain(value);
          expect(redact(left)).toBe(left);
        }
        const data = redactData(
          { tool: "Bash", input: { command: `echo '${text}'`, nested: json } },
          redact,
          strictness,
        );
        expect(JSON.stringify(data)).not.toContain(value);
        expect(() => JSON.parse(data.input.nested)).not.toThrow();
      }
    });
  }
});

describe("what only looks like a secret stays", () => {
  for (const text of lookAlikes)
    test(text.slice(0, 60), () => {
      for (const strictness of ["said", "composed"] as const) {
        const redact = redactor(secretValues({ DB_PASSWORD: "postgres", KEY_DIR: "/home/ann/project" }), strictness);
        expect(redact(text)).toBe(text);
        expect(redact(`${text} src/store/postgres.ts in /home/ann/project`)).toContain(
          "postgres.ts in /home/ann/project",
        );
        expect(redactData({ a: text, b: [text] }, redact, strictness)).toEqual({ a: text, b: [text] });
      }
    });
});

test("what people write to each other keeps values that look like words", () => {
  const text = "Start it with TEST_TOKEN=abc and postgres://postgres:postgres@localhost/test";
  expect(redactor([], "composed")(text)).toBe(text);
  expect(redact(text)).toBe(`Start it with TEST_TOKEN=${redacted} and postgres://postgres:${redacted}@localhost/test`);
});

test("data keeps its shape: a text that is JSON stays JSON, and what is assigned by its key goes", () => {
  const payload = JSON.stringify({ env: { DEPLOY_TOKEN: 'a"b c' }, count: 12, apiKeySource: "none" });
  expect(JSON.parse(redactData({ payload }, redact).payload)).toEqual({
    env: { DEPLOY_TOKEN: redacted },
    count: 12,
    apiKeySource: "none",
  });
  const untouched = { at: [1, { b: "text" }] };
  expect(redactData(untouched, redact)).toBe(untouched);
});
