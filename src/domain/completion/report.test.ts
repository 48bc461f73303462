import { expect, test } from "bun:test";
import { doneRequest } from "../../../testkit/done-request.ts";
import { type Proof, reportMail } from "./report.ts";
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
