import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { capBody, checkHop, checkRate, defaultMailLimits, type Fingerprint, findDuplicate } from "./limits.ts";

const now = 500_000;

describe("rate", () => {
  const facts = { sender: "b1", exempt: false, group: false, sent: 29, now };

  test.each([
    ["the thirtieth message", facts, true],
    ["the thirty-first message", { ...facts, sent: 30 }, false],
    ["the fourth group send", { ...facts, group: true, sent: 3 }, true],
    ["the fifth group send", { ...facts, group: true, sent: 4 }, false],
    ["the engine's thousandth", { ...facts, exempt: true, sent: 1_000 }, true],
  ] as const)("%s within a minute", (_, given, fine) => {
    expect(checkRate(given).ok).toBe(fine);
  });

  test("a refusal names the limit and when to try again", () => {
    expect(checkRate({ ...facts, sent: 30, oldestAt: now - 45_000 })).toEqual({
      ok: false,
      refusal: { kind: "rate-limited", sender: "b1", limit: 30, per: "minute", retryAfterMs: 15_000 },
    });
    expect(checkRate({ ...facts, sent: 30 })).toMatchObject({ refusal: { retryAfterMs: 60_000 } });
    expect(checkRate({ ...facts, sent: 30, oldestAt: now - 90_000 })).toMatchObject({ refusal: { retryAfterMs: 1 } });
    expect(checkRate({ ...facts, sent: 30, oldestAt: now + 90_000 })).toMatchObject({
      refusal: { retryAfterMs: 60_000 },
    });
  });
});

test("a thread ends after twelve hops", () => {
  expect(checkHop({ threadId: "msg-1", hop: 12 }).ok).toBe(true);
  expect(checkHop({ threadId: "msg-1", hop: 13 })).toEqual({
    ok: false,
    refusal: { kind: "hop-limit", thread: "msg-1", limit: 12 },
  });
});

describe("duplicates", () => {
  const sent: Fingerprint = {
    fromAgentId: "agent-1",
    fromAgent: "b1",
    address: "l1",
    type: "status",
    subject: "s",
    body: "done",
    payload: null,
    replyTo: null,
  };
  const stored = { ...sent, id: "msg-1", createdAt: now - 59_999 };

  test("the same mail within a minute is a duplicate of the first", () => {
    expect(findDuplicate(sent, [stored], now)).toBe(stored);
    expect(findDuplicate(sent, [{ ...stored, createdAt: now - 60_000 }], now)).toBeUndefined();
  });

  test.each([
    { type: "worker_done" },
    { payload: '{"branch":"x"}' },
    { address: "l2" },
    { body: "done!" },
    { subject: "t" },
    { replyTo: "msg-0" },
    { fromAgent: "b2" },
    { fromAgentId: "agent-2" },
  ] as const)("mail that differs in %j is another message", (difference) => {
    expect(findDuplicate({ ...sent, ...difference }, [stored], now)).toBeUndefined();
  });
});

describe("long bodies", () => {
  const path = ".overstory/mail-blobs/msg-1.md";
  const { maxBodyBytes } = defaultMailLimits;

  test("a body within the limit is sent as it is", () => {
    const body = "x".repeat(maxBodyBytes);
    expect(capBody(body, path)).toEqual({ body, blob: null });
  });

  test("the limit counts bytes, not characters", () => {
    expect(capBody("é".repeat(maxBodyBytes / 2), path).blob).toBeNull();
    expect(capBody("é".repeat(maxBodyBytes / 2 + 1), path).blob).not.toBeNull();
    expect(capBody("😀".repeat(maxBodyBytes / 4 + 1), path).blob).not.toBeNull();
  });

  test("a longer one becomes its beginning and the path of the whole, never half a character", () => {
    const whole = fc.array(fc.constantFrom("a", "é", "漢", "😀"), { minLength: 200, maxLength: 2_500 });
    fc.assert(
      fc.property(whole, fc.integer({ min: 50, max: 150 }), (parts, limit) => {
        const body = parts.join("");
        const capped = capBody(body, path, { ...defaultMailLimits, maxBodyBytes: limit });
        expect(capped.blob).toBe(body);
        const [start = ""] = capped.body.split("\n");
        expect(body.startsWith(start)).toBe(true);
        expect(start.length).toBeGreaterThanOrEqual(49);
        expect(start.isWellFormed()).toBe(true);
        expect(capped.body).toContain(`${Buffer.byteLength(body)} bytes in all; the whole text is in ${path}`);
      }),
      { numRuns: 30 },
    );
  });
});
