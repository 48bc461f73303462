import { expect, test } from "bun:test";
import { applies } from "./applies.ts";

test("a gate without paths is needed by every change, even by none", () => {
  expect(applies({ paths: [] }, [])).toBe(true);
});

test("a gate with paths is needed when one changed file is among them", () => {
  const gate = { paths: ["src/**/*.ts", "Makefile"] };
  expect(applies(gate, ["docs/a.md", "src/deep/down/a.ts"])).toBe(true);
  expect(applies(gate, ["Makefile"])).toBe(true);
  expect(applies(gate, ["docs/a.md", "lib/Makefile"])).toBe(false);
  expect(applies(gate, [])).toBe(false);
});

test("a directory means what is in it, and nothing that only begins like it", () => {
  for (const path of ["web", "web/", "./web", "web/**"]) {
    expect(applies({ paths: [path] }, ["web/src/a.ts"])).toBe(true);
    expect(applies({ paths: [path] }, ["website/a.ts"])).toBe(false);
  }
  expect(applies({ paths: ["."] }, ["a"])).toBe(true);
});

test("when it is not known what has changed, the gate is needed", () => {
  expect(applies({ paths: ["src"] }, undefined)).toBe(true);
});
