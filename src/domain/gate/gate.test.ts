import { expect, test } from "bun:test";
import { gateHash } from "./gate.ts";

const gate = { command: "make test", timeoutMs: 1_000 };
const terms = { keepIgnored: ["node_modules", "target"], cache: [], setup: undefined, form: "1" };
const text = (given: string): string => given;

test("command, time limit, kept directories, setup and the form of files each make another hash", () => {
  const hashes = [
    gateHash(gate, terms, text),
    gateHash({ ...gate, command: "make  test" }, terms, text),
    gateHash({ ...gate, timeoutMs: 2_000 }, terms, text),
    gateHash(gate, { ...terms, keepIgnored: ["target"] }, text),
    gateHash(gate, { ...terms, cache: ["build"] }, text),
    gateHash(gate, { ...terms, keepIgnored: [], cache: terms.keepIgnored }, text),
    gateHash(gate, { ...terms, setup: "npm ci" }, text),
    gateHash(gate, { ...terms, form: "2" }, text),
  ];
  expect(new Set(hashes).size).toBe(hashes.length);
});

test("the order of kept directories, and fields that decide nothing, do not matter", () => {
  const wider = { ...gate, name: "Tests", required: false, paths: ["src"] };
  expect(gateHash(wider, { ...terms, keepIgnored: ["target", "node_modules", "target"] }, text)).toBe(
    gateHash(gate, terms, text),
  );
});
