import { expect, test } from "bun:test";
import fc from "fast-check";
import { cpuTimer } from "../../../testkit/cpu-time.ts";
import { answered, type Incoming, type Outgoing, parseMessage } from "./protocol.ts";
import type { McpServer } from "./server.ts";
import { serveStdio } from "./stdio.ts";

const encoder = new TextEncoder();

async function* pieces(...chunks: readonly (string | Uint8Array | Promise<unknown>)[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) {
    if (chunk instanceof Promise) await chunk;
    else yield typeof chunk === "string" ? encoder.encode(chunk) : chunk;
  }
}

const request = (id: number, method: string): string => `${JSON.stringify({ jsonrpc: "2.0", id, method })}\n`;

/** Answers `slow` only when it is cancelled, and everything else at once. */
function sampleServer(seen: string[] = []): McpServer {
  return {
    reply: async (incoming: Incoming, { signal, notify }) => {
      if (incoming.kind !== "request") return undefined;
      seen.push(incoming.method);
      if (incoming.method === "slow") {
        notify({ jsonrpc: "2.0", method: "notifications/progress", params: {} });
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        seen.push("slow ended");
      }
      const afterSent = async () => void seen.push(`${incoming.method} sent`);
      return { message: answered(incoming.id, { method: incoming.method }), afterSent };
    },
  };
}

async function serve(server: McpServer, input: AsyncIterable<Uint8Array>): Promise<readonly Outgoing[]> {
  const out: string[] = [];
  const write = (line: string) => {
    out.push(line);
    return "written" as const;
  };
  await serveStdio(server, { input, write });
  return out.map((line): Outgoing => JSON.parse(line));
}

test("messages are read whole however they were cut on the way", async () => {
  const text = encoder.encode(request(1, "añb") + request(2, "c€d") + request(3, "e"));
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(text.length)), async (cuts) => {
      const at = [0, ...cuts.toSorted((a, b) => a - b), text.length];
      const parts = at.slice(1).map((end, index) => text.slice(at[index], end));
      const out = await serve(sampleServer(), pieces(...parts));
      expect(out).toEqual([1, 2, 3].map((id) => answered(id, { method: ["añb", "c€d", "e"][id - 1] })));
    }),
  );
});

test("a long message that comes in small pieces is read in the time that its length takes", async () => {
  const message = { jsonrpc: "2.0", id: 1, method: "x", params: { body: "b".repeat(15 * 2 ** 20) } };
  const text = encoder.encode(`${JSON.stringify(message)}\n`);
  const parts = Array.from({ length: Math.ceil(text.length / 4096) }, (_, at) =>
    text.slice(at * 4096, at * 4096 + 4096),
  );
  const computed = cpuTimer();
  expect(await serve(sampleServer(), pieces(...parts))).toEqual([answered(1, { method: "x" })]);
  expect(computed()).toBeLessThan(3_000);
});

test("a message with more values than any request has is not parsed", () => {
  const params = `{${Array.from({ length: 1_000_000 }, (_, at) => `"${at.toString(36)}":1`).join(",")}}`;
  const computed = cpuTimer();
  expect(parseMessage(`{"jsonrpc":"2.0","id":1,"method":"x","params":${params}}`)).toMatchObject({ kind: "invalid" });
  expect(computed()).toBeLessThan(1_000);
});

test("a long call holds nobody up, and when it is taken back it gets no answer", async () => {
  const seen: string[] = [];
  const cancel = `${JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } })}\n`;
  const input = pieces(request(1, "slow"), request(2, "ping"), Bun.sleep(1), cancel, request(3, "last"));
  const out = await serve(sampleServer(seen), input);
  expect(out.map((message) => ("id" in message ? message.id : message.method))).toEqual([
    "notifications/progress",
    2,
    3,
  ]);
  expect(seen).toContain("slow ended");
  expect(seen).not.toContain("slow sent");
});

test("what still runs when the client leaves is ended", async () => {
  const seen: string[] = [];
  const out = await serve(sampleServer(seen), pieces(request(1, "slow")));
  expect(seen).toEqual(["slow", "slow ended"]);
  expect(out).toHaveLength(1);
});

test("what is true only after handing over is not done when nobody reads", async () => {
  const seen: string[] = [];
  await serveStdio(sampleServer(seen), { input: pieces(request(1, "a")), write: () => "reader-gone" });
  expect(seen).toEqual(["a"]);
});
