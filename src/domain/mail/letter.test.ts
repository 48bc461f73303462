import { expect, test } from "bun:test";
import { isUnverified, workLine } from "./letter.ts";

const base = "1111111111111111111111111111111111111111";
const head = "2222222222222222222222222222222222222222";

test("a report without commits says so, and that nothing is uncommitted either", () => {
  const facts = { head: base, base, ahead: 0, dirty: false };
  expect(workLine({ kind: "seen", when: "turn-ended", facts })).toBe(
    "0 commits since 1111111111, head 1111111111, nothing uncommitted; no gate was run for it",
  );
});

test("facts seen during the sender's turn are told as such: they may change", () => {
  const facts = { head, base, ahead: 1, dirty: true };
  expect(workLine({ kind: "seen", when: "turn-running", facts })).toBe(
    "1 commit since 1111111111, head 2222222222, uncommitted changes in its worktree; no gate was run for it; its turn is still running",
  );
});

test("unknown facts are not made up", () => {
  expect(workLine({ kind: "none" })).toContain("no worktree");
  expect(workLine({ kind: "unknown", why: "its worktree is gone" })).toStartWith("its worktree is gone;");
});

test("only a bare worker_done is unverified", () => {
  expect(isUnverified({ type: "worker_done", payload: '{"unverified":true}' })).toBe(true);
  expect(isUnverified({ type: "worker_done", payload: '{"commit":"c"}' })).toBe(false);
  expect(isUnverified({ type: "status", payload: '{"unverified":true}' })).toBe(false);
});
