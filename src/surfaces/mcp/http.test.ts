import { describe, expect, test } from "bun:test";
import { ok } from "../../domain/result.ts";
import { answerHttp } from "./http.ts";
import { answered } from "./protocol.ts";
import type { McpServer } from "./server.ts";

/** A call that tells one thing on its way; the diary says in which order things happened. */
function world(accept: string) {
  const diary: string[] = [];
  const server: McpServer = {
    reply: async (_, { notify }) => {
      notify({ jsonrpc: "2.0", method: "notifications/progress", params: {} });
      const afterSent = async (): Promise<void> => {
        await Bun.sleep(5);
        diary.push("true from now on");
      };
      return { message: answered(1, { text: "the answer" }), afterSent };
    },
  };
  const params = { name: "inbox", _meta: { progressToken: 1 } };
  const request = new Request("http://127.0.0.1/mcp", {
    method: "POST",
    headers: { host: "127.0.0.1", authorization: "Bearer t", "content-type": "application/json", accept },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
  });
  return {
    diary,
    answer: () =>
      answerHttp(
        request,
        async () => ok(server),
        () => {},
      ),
  };
}

async function readerOf(answer: Promise<Response>) {
  const { body } = await answer;
  if (body === null) throw new Error("the response has no body");
  const reader = body.getReader();
  const next = async (): Promise<string> => {
    const { value, done } = await reader.read();
    return done ? "end" : new TextDecoder().decode(value);
  };
  return { next, cancel: () => reader.cancel() };
}

describe.each(["application/json", "application/json, text/event-stream"])("an answer over HTTP as %s", (accept) => {
  test("has its consequence after it was taken and before the response ends", async () => {
    const { diary, answer } = world(accept);
    const { next } = await readerOf(answer());
    let piece = "";
    while (!piece.includes("the answer")) piece = await next();
    await Bun.sleep(20);
    expect(diary).toEqual([]);
    expect(await next()).toBe("end");
    expect(diary).toEqual(["true from now on"]);
  });

  test("has no consequence for a client that left before the answer came", async () => {
    const { diary, answer } = world(accept);
    const { next, cancel } = await readerOf(answer());
    if (accept.includes("event-stream")) expect(await next()).toContain("notifications/progress");
    await cancel();
    await Bun.sleep(20);
    expect(diary).toEqual([]);
  });
});
