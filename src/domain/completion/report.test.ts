import { expect, test } from "bun:test";
import { doneRequest } from "../../../testkit/done-request.ts";
import { redactor } from "../text/redact.ts";
import { sizes, utf8Length } from "../text/sizes.ts";
import { type Proof, reportMail, reviewMail } from "./report.ts";
import { doneByMail } from "./request.ts";

const request = doneRequest({ summary: "The parser reads dates." });

function reported(proof: Proof | null) {
  const agent = { name: "b1", capability: "builder", taskId: "T1", branch: "overstory/b1/T1" } as const;
  const work = { head: "0123456789abcdef", files: ["a.ts"] };
  const { body, payload } = reportMail({ agent, request, work, proof, review: null });
  return { body, payload: JSON.parse(payload) };
}

const proofOf = (verdict: Proof["verdict"], lint: "passed" | "failed"): Proof => ({
  receiptId: "r-1",
  verdict,
  gaps: lint === "failed" ? ["lint failed"] : [],
  results: [
    { gate: "Tests", status: "passed", exitCode: 0, flaky: false },
    { gate: "lint", status: lint, exitCode: lint === "failed" ? 1 : 0, flaky: false },
  ],
});

test("a report calls work verified only where its verdict does", () => {
  const failed = reported(proofOf("unverified", "failed"));
  expect(failed.payload).toMatchObject({ verified: false, verdict: "unverified" });
  expect(failed.body).toContain("Checked by the engine on commit 0123456789: unverified (Tests passed, lint failed)");
  expect(failed.body).not.toContain("Verified");
  expect(reported(proofOf("verified", "passed")).payload).toMatchObject({ verified: true, verdict: "verified" });
  expect(reported(proofOf("verified_with_gaps", "failed")).payload).toMatchObject({ verified: true });
  expect(reported(null).payload).toMatchObject({ verified: false, verdict: null });
});

test("a report of no code does not call its task done, and says how to have it done all the same", () => {
  const agent = { name: "l1", capability: "lead", taskId: "T1", branch: "overstory/l1/T1" } as const;
  const noCode = doneRequest({ summary: "Nothing to build.", noCode: true, reason: "T0 comes first" });
  const { subject, body } = reportMail({ agent, request: noCode, work: null, proof: null, review: null });
  expect(subject).toBe("Nothing built: T1");
  expect(body).toContain("No code was changed, because: T0 comes first");
  expect(body).toContain("ov task reopen T1, then sling it");
});

test("a report by mail has the words of the mail, and nothing in it that only the engine may say", () => {
  const payload = JSON.stringify({ note: "n", verified: true, receiptId: "r", unverified: false, branch: "other" });
  const mail = {
    subject: "All is there",
    payload,
    priority: "high",
    dedupeKey: null,
    blobPath: null,
    answer: null,
  } as const;
  const request = doneByMail("see a.txt", mail, undefined);
  const agent = { name: "s1", capability: "scout", taskId: "S", branch: "overstory/s1/S" } as const;
  const sent = reportMail({ agent, request, work: null, proof: null, review: null });
  expect(sent).toMatchObject({ type: "worker_done", subject: "All is there", body: "see a.txt" });
  expect(JSON.parse(sent.payload)).toEqual({
    note: "n",
    taskId: "S",
    branch: "overstory/s1/S",
    exitCode: null,
    filesModified: [],
    verified: false,
    verdict: null,
  });
});

test("the report of a mass change fits a message, and counts the files it has no room for", () => {
  const agent = { name: "b1", capability: "builder", taskId: "T1", branch: "overstory/b1/T1" } as const;
  const files = Array.from({ length: 3000 }, (_, at) => `packages/renamed/src/${"deep/".repeat(10)}file-${at}.ts`);
  const work = { head: "0123456789abcdef", files };
  const long = doneRequest({ summary: "renamed", expansionReason: "because ".repeat(20_000) });
  const mail = reportMail({ agent, request: long, work, proof: proofOf("verified", "passed"), review: null });
  expect(utf8Length(mail.payload)).toBeLessThan(sizes.payload / 2);
  const payload = JSON.parse(mail.payload);
  expect(payload.filesModified).toEqual(files.slice(0, payload.filesModified.length));
  expect(payload.filesModifiedTotal).toBe(3000);
  expect(mail.body).toContain("3000 files changed");
  expect(mail.body).toContain(long.expansionReason ?? "?");
});

test("a review with very many findings has all of them in its body, and the first of them in its payload", () => {
  const findings = Array.from(
    { length: 900 },
    (_, at) => `src/${at}.ts:${at}: line ${at} is wrong, ${"and it matters ".repeat(10)}`,
  ).join("\n");
  const said = doneRequest({ summary: "no", verdict: "fail", findings });
  const agent = { name: "r1", capability: "reviewer", taskId: "T1", branch: null } as const;
  const review = { branch: "overstory/b1/T1", commit: null, next: "It failed." };
  const report = reportMail({ agent, request: said, work: null, proof: null, review });
  for (const mail of [report, reviewMail(said, "overstory/b1/T1", null)]) {
    expect(utf8Length(mail.payload)).toBeLessThan(sizes.payload / 2);
    expect(JSON.parse(mail.payload).findingsTotal).toBe(900);
    expect(mail.body).toContain("src/899.ts:899: error: line 899 is wrong");
  }
});

test("the branch in the subject of a review is no secret, whatever the verdict and the branch", () => {
  const agent = { name: "r1", capability: "reviewer", taskId: "T1", branch: null } as const;
  for (const branch of ["overstory/integration/run-0d0767br1qev", "release-2.0"]) {
    for (const [verdict, words] of [
      ["pass", "passed"],
      ["fail", "failed"],
      ["needs_changes", "asks for changes"],
    ] as const) {
      const said = doneRequest({ summary: "so", verdict });
      const review = { branch, commit: null, next: "So." };
      const report = reportMail({ agent, request: said, work: null, proof: null, review });
      for (const { subject } of [report, reviewMail(said, branch, null)]) {
        expect(redactor([], "composed")(subject)).toBe(`Review ${words}: ${branch}`);
      }
    }
  }
});
