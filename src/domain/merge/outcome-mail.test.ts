import { expect, test } from "bun:test";
import { checkPayload, payloadFields } from "../mail/payload.ts";
import { mergeCauses } from "./entry.ts";
import { approvalMail, blockedMail, failedMail, landedMail } from "./outcome-mail.ts";
import { causeWords } from "./words.ts";

const entry = {
  id: 7,
  branch: "overstory/b1/T1",
  taskId: "T1",
  targetBranch: "main",
  headCommit: "abc",
  enqueuedBy: "lead-1",
  filesModified: ["a.ts"],
};
const landing = {
  tier: "auto-resolve",
  strategy: "union",
  verdict: "verified",
  commit: "0123456789abcdef",
  opId: "op-1",
} as const;

test("who is told of a landing learns where it is, how it got there, what it unlocks and how to take it back", () => {
  const { body, payload } = landedMail({ entry, ...landing, ready: ["T2", "T3"], mayUndo: true });
  expect(body).toContain(
    "overstory/b1/T1 is part of main now (commit 0123456789, conflict settled by rule: the lines of both sides were kept)",
  );
  expect(body).toContain("Ready to be started now: T2, T3");
  expect(body).toContain("ov merge undo op-1");
  expect(payloadFields(payload)).toMatchObject({ commit: landing.commit, opId: "op-1", readyTasks: ["T2", "T3"] });
});

test("a branch that landed with others is taken back alone or with them, and both commands say which", () => {
  const { body } = landedMail({ entry, ...landing, ready: [], others: ["overstory/b2/T2"], mayUndo: true });
  expect(body).toContain("To take it back: ov merge undo 7; together with overstory/b2/T2: ov merge undo op-1");
});

test("an agent is not told a command that only the operator may type", () => {
  expect(landedMail({ entry, ...landing, ready: [] }).body).not.toContain("ov merge undo");
});

test("a landing that no gate has proved says so", () => {
  expect(landedMail({ entry, ...landing, verdict: "unverified", ready: [] }).body).toContain("is not proved");
});

test("a failure names its files, gate, log and those in the way, and every cause has an advice", () => {
  const detail = {
    message: "both changed a.ts",
    files: ["a.ts"],
    gate: "Tests",
    logPath: "/l",
    logTail: "boom\n",
    with: ["overstory/b2/T2"],
  };
  for (const cause of mergeCauses) {
    const { subject, body, payload } = failedMail({ entry, cause, detail, owner: null });
    expect(subject).toBe(`merge failed (${causeWords[cause]}): overstory/b1/T1`);
    expect(subject).not.toContain("_");
    for (const word of ["both changed a.ts", "Tests", "/l", "boom", "overstory/b2/T2", "What to do: "]) {
      expect(body).toContain(word);
    }
    expect(payloadFields(payload).suggestion).not.toBe("");
    // A reader of the message is shown its payload too: the end of the log stands in it once.
    expect(payload).not.toContain("boom");
  }
});

test("a failure says who mends the branch and who hands it over again", () => {
  const told = (owner: Parameters<typeof failedMail>[0]["owner"], enqueuedBy = "lead-1") => {
    const about = { ...entry, enqueuedBy };
    return /^Who acts: (.*)$/m.exec(
      failedMail({ entry: about, cause: "conflict", detail: { message: "no" }, owner }).body,
    )?.[1];
  };
  const b1 = { name: "b1", above: "lead-1", isBack: true };
  expect(told(b1)).toBe(
    "b1 is at work on it and finishes again; then lead-1 hands the branch over again with merge_ready, and waits until then",
  );
  expect(told({ ...b1, above: "operator" })).toEndWith("then it waits for the operator's approval again");
  expect(told({ ...b1, isBack: false })).toBe("lead-1 decides; b1 was not started again");
  expect(told({ ...b1, above: "operator", isBack: false })).toBe("the operator decides; b1 was not started again");
  expect(told(null)).toBe("lead-1 has the branch mended, then hands it over again with merge_ready");
  for (const name of ["operator", "system"]) expect(told(null, name)).toBe("the operator");
});

test("the operator is told how to settle a branch that no agent can mend, in commands of the operator's", () => {
  const about = { ...entry, branch: "main", targetBranch: "overstory/integration/run-1", enqueuedBy: "operator" };
  for (const [cause, way] of [
    ["conflict", "git merge main"],
    ["gate_failed", "ov merge undo <number>"],
  ] as const) {
    const { body } = failedMail({ entry: about, cause, detail: { message: "no" }, owner: null });
    expect(body).toContain(way);
    expect(body).toContain("ov merge cancel 7");
    expect(body).not.toContain("report again");
  }
});

test("every payload is what its type of mail asks for, with and without a task", () => {
  for (const taskId of ["T1", null]) {
    const about = { ...entry, taskId };
    expect(checkPayload("merged", landedMail({ entry: about, ...landing, ready: [] }).payload)).toEqual([]);
    const failed = failedMail({ entry: about, cause: "conflict", detail: { message: "no" }, owner: null });
    expect(checkPayload("merge_failed", failed.payload)).toEqual([]);
    expect(checkPayload("decision_gate", approvalMail({ ...about, causeDetail: null }, "why").payload)).toEqual([]);
  }
});

test("who decides about a branch is told the two commands", () => {
  const { body } = approvalMail({ ...entry, causeDetail: null }, "no gate has checked it");
  expect(body).toContain("ov merge approve 7");
  expect(body).toContain("ov merge reject 7");
  expect(body).not.toContain("The difference");
  const asked = { ...entry, causeDetail: { message: "it changes a gate", difference: "-true\n+false\n" } };
  expect(approvalMail(asked, "it changes a gate").body).toContain("\n-true\n+false\n");
});

test("mail about a branch with thousands of files names the first of them and counts the rest", () => {
  const files = Array.from({ length: 3000 }, (_, at) => `packages/renamed/src/file-${at}.ts`);
  const detail = { message: "both changed them", files };
  const failed = failedMail({ entry, cause: "conflict", detail, owner: null });
  const asked = approvalMail({ ...entry, filesModified: files, causeDetail: null }, "it waits");
  const blocked = blockedMail({ entry, cause: "conflict", detail });
  for (const { body, payload } of [failed, asked, blocked]) {
    expect(body).toContain("file-0.ts");
    expect(body).toContain("and 2970 more");
    expect(body.length).toBeLessThan(3000);
    expect(payload.length).toBeLessThan(20_000);
  }
  expect(payloadFields(failed.payload)).toMatchObject({ conflictFilesTotal: 3000 });
});
