import { expect, test } from "bun:test";
import { lookAlikes, plantedSecrets, secretSorts } from "../../../testkit/secrets.ts";
import { isSecretSetting, secretLines } from "./secret-lines.ts";

const one = (sort: string): string => plantedSecrets(secretSorts.length).find((each) => each.sort === sort)?.text ?? "";

test.each([
  "Anthropic key",
  "OpenAI key",
  "AWS key id",
  "GitHub token",
  "GitLab token",
  "Slack webhook",
  "npm token",
  "payment key",
  "private key",
  "OpenSSH private key",
  "vault token",
  "Databricks token",
  "CircleCI token",
])("a line with a key is named: %s", (sort) => {
  expect(secretLines(`first\nsecond\nkey: ${one(sort)}\nlast\n`)).toEqual([3]);
  expect(secretLines(JSON.stringify({ a: 1, text: one(sort) }, null, 1))).toEqual([3]);
});

test("each line is named once, in order", () => {
  const [aws, anthropic] = [one("AWS key id"), one("Anthropic key")];
  expect(secretLines(`${anthropic}\n\n${aws} ${aws}\n${anthropic}`)).toEqual([1, 3, 4]);
});

test("what only looks like a secret, and the samples of documents, are none", () => {
  for (const text of lookAlikes) expect([text, secretLines(text)]).toEqual([text, []]);
  const samples = [
    `AKIA${"IOSFODNN7EXAMPLE"}`,
    `sk-${"ant"}-api03-${"X".repeat(40)}`,
    `sk-${"ant"}-your-key-goes-here-0000000000`,
    `gh${"p"}_${"x".repeat(36)}`,
    `gh${"p"}_0123456789abcdefghijklmnopqrstuvwxyz`,
    `https://hooks.slack.com/services/T00000000/B00000000/${"X".repeat(24)}`,
    `sk_${"test"}_4eC39HqLyjWDarjtT1zdp7dc`,
    "-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----",
    one("hash of a password"),
    one("signed address"),
  ];
  for (const text of samples) expect([text, secretLines(text)]).toEqual([text, []]);
});

test("an address that nobody could guess is a secret, and an ordinary one is not", () => {
  const secret = [
    one("Slack webhook"),
    "https://ann:tulip@hooks.example.org/ov",
    "https://hooks.example.org/catch/9f8c7b6a5d4e3f2a1b0c",
    "https://hooks.example.org/ov?token=h7s9k2m4q8",
  ];
  expect(secret.filter((text) => !isSecretSetting(text))).toEqual([]);
  const plain = ["https://example.org/hooks/overstory", "http://127.0.0.1:8080/?page=2", "main", "npm test", ""];
  expect(plain.filter(isSecretSetting)).toEqual([]);
});

test("a long text takes no longer for what is in it", () => {
  const began = performance.now();
  for (const piece of ["-----BEGIN PRIVATE KEY-----\n", "MTIzNDU2Nzg5.", "sk-a", "AKIA", "A", "\n"])
    secretLines(piece.repeat(Math.ceil(500_000 / piece.length)));
  expect(performance.now() - began).toBeLessThan(5_000);
});
