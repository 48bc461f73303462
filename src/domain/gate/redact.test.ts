import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { openKeyAt, redacted, redactor, secretValues } from "./redact.ts";

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
    ["MY_TOKEN=abc DB_PASSWORD='a b' OTHER=1", `MY_TOKEN=${redacted} DB_PASSWORD=${redacted} OTHER=1`],
    ['{"AWS_SECRET_ACCESS_KEY": "x/y", "a": 1}', `{"AWS_SECRET_ACCESS_KEY": ${redacted}, "a": 1}`],
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
  const began = performance.now();
  for (const unit of ["A", "A_", "a:", "eyJ", "=", "/", "-----BEGIN "]) redact(unit.repeat(300_000 / unit.length));
  // Milliseconds, where reading them again and again takes minutes.
  expect(performance.now() - began).toBeLessThan(20_000);
});
