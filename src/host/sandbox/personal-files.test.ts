import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { testWithoutPrivileges } from "../../../testkit/without-privileges.ts";
import { otherStates } from "./personal-files.ts";

testWithoutPrivileges("a state below a directory that is closed to us is passed over", import.meta.path, async () => {
  const base = mkdtempSync(join(tmpdir(), "ov-states-"));
  const state = (name: string): string => join(base, name, ".git", "ov-state");
  for (const name of ["mine", "closed", "open"]) mkdirSync(state(name), { recursive: true });
  chmodSync(join(base, "closed"), 0);
  const found = otherStates(join(base, "mine"), state("mine")).map(({ at }) => at);
  chmodSync(join(base, "closed"), 0o700);
  rmSync(base, { recursive: true });
  expect(found.filter((at) => at.startsWith(base))).toEqual([state("open")]);
});

test("a socket whose path is gone is passed over", async () => {
  const base = mkdtempSync(join(tmpdir(), "ov-states-"));
  const state = (name: string): string => join(base, "far", name, ".git", "ov-state");
  mkdirSync(state("other"), { recursive: true });
  const server = Bun.listen({ unix: join(state("other"), "s.sock"), socket: { data: () => undefined } });
  const found = (): readonly string[] =>
    otherStates(join(base, "mine"), join(base, "mine", ".git", "ov-state"))
      .map(({ at }) => at)
      .filter((at) => at.startsWith(base));
  expect(found()).toEqual([state("other")]);
  rmSync(base, { recursive: true });
  expect(found()).toEqual([]);
  server.stop(true);
});
