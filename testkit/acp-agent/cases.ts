import { existsSync } from "node:fs";
import type { Heron } from "./heron.ts";

/** What the agent does otherwise than an ordinary one. */
export interface HeronCase {
  /** Everything is written in pieces that are cut anywhere, also inside letters. */
  readonly pieces?: true;
  readonly protocolVersion?: unknown;
  readonly noLoad?: true;
  readonly noUsage?: true;
  /** Requests that are answered with an error. */
  readonly errors?: Readonly<Record<string, object>>;
  onStart?(heron: Heron): void | Promise<void>;
  afterSession?(heron: Heron): void;
  /** What the prompt is answered with; undefined to work as usual. */
  onPrompt?(heron: Heron, text: string): Promise<object | undefined>;
}

const end = { stopReason: "end_turn" };

/** Works, and answers the prompt without figures. */
const worked = async (heron: Heron, words: string): Promise<object> => {
  await heron.work();
  heron.say(words);
  return end;
};

const isRefused = async (heron: Heron, method: string, params: object, id?: unknown): Promise<boolean> =>
  (await heron.ask(method, params, id)).error?.code === -32601;

export const cases: Readonly<Record<string, HeronCase>> = {
  good: {
    onPrompt: async ({ update }) => {
      update({ sessionUpdate: "usage_update", used: 100, size: 1000, cost: { amount: 0.25, currency: "USD" } });
      return undefined;
    },
  },
  malformed: {
    onStart: ({ raw }) => raw('\n{\nnull\n[]\n"text"\n{"jsonrpc":\nwarning: something is old\n'),
    onPrompt: async ({ raw }) => {
      raw(`${"[".repeat(100_000)}\n{"jsonrpc":"2.0","method":7}\n{"jsonrpc":"2.0","method":"session/update"}\n`);
      raw('{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":["x"],"content":7}}}\n');
      raw(Uint8Array.of(0xff, 0xfe, 0x80, 0x0a));
      return undefined;
    },
  },
  split: { pieces: true },
  huge: {
    onPrompt: async ({ update, send }) => {
      send({ method: "heron/huge", params: { text: "x".repeat(12 * 1024 * 1024) } });
      update({ sessionUpdate: "tool_call", toolCallId: "big", title: "x".repeat(1024 * 1024), status: "completed" });
      return undefined;
    },
  },
  unknown: {
    onPrompt: async (heron) => {
      heron.send({ method: "heron/new-notification", params: [1, 2] });
      heron.update({ sessionUpdate: "mood_update", mood: "calm" });
      const answered =
        (await isRefused(heron, "heron/new-request", {}, "a string")) &&
        (await isRefused(heron, "session/elicit", {}, 7));
      return worked(heron, answered ? "Both were answered." : "They were not answered.");
    },
  },
  "wrong-ids": {
    onStart: ({ send }) => {
      for (const id of [99, "x", null, -1, 2]) send({ id, result: { stopReason: "end_turn", sessionId: "stray" } });
    },
    onPrompt: async (heron) => {
      heron.send({ id: 0, result: { protocolVersion: 1 } });
      heron.send({ id: 1, result: { sessionId: "another" } });
      heron.send({ id: 77, result: end });
      heron.send({ id: 78, error: { code: -32603, message: "stray" } });
      await heron.work();
      heron.say("The end that counts.");
      heron.send({ id: 2, result: end });
      heron.say("Too late.");
      heron.send({ id: 2, result: { stopReason: "refusal" } });
      return end;
    },
  },
  "files-and-terminals": {
    onPrompt: async (heron) => {
      const { sessionId } = heron;
      const path = `${process.cwd()}/planted.txt`;
      const refused = [
        await isRefused(heron, "fs/read_text_file", { sessionId, path: "/etc/hostname" }),
        await isRefused(heron, "fs/write_text_file", { sessionId, path, content: "x" }),
        await isRefused(heron, "terminal/create", { sessionId, command: "touch", args: [path] }),
      ];
      return worked(heron, `refused ${refused.filter(Boolean).length}, planted ${existsSync(path)}`);
    },
  },
  "no-options": {
    onPrompt: async (heron) => {
      const once = await heron.shell("true", []);
      const forever = await heron.shell("true", [{ optionId: "yes", kind: "allow_always", name: "Always" }]);
      const bare = await heron.ask("session/request_permission", {});
      return worked(heron, `${once} ${forever} ${bare.result?.outcome?.outcome}`);
    },
  },
  denied: {
    onPrompt: async (heron) => {
      const pushed = await heron.shell("git push origin HEAD");
      // Without an id, what was told of another call must not count for this one.
      const ask = (toolCall: object) =>
        heron.ask("session/request_permission", {
          sessionId: heron.sessionId,
          toolCall,
          options: [
            { optionId: "yes", kind: "allow_once", name: "Yes" },
            { optionId: "no", kind: "reject_once", name: "No" },
          ],
        });
      const harmless = await ask({ title: "ls", kind: "execute", rawInput: { command: "ls" } });
      const hidden = await ask({ title: "git push", kind: "execute" });
      const outcomes = [harmless, hidden].map(({ result }) => result?.outcome?.optionId);
      heron.say("I go on.");
      return worked(heron, `${pushed} ${outcomes.join(" ")}`);
    },
  },
  "no-load": { noLoad: true, onPrompt: async (heron, text) => (isSecond(text) ? undefined : waits(heron)) },
  "load-fails": {
    errors: { "session/load": { code: -32603, message: "Internal error", data: { details: "the file is damaged" } } },
    onPrompt: async (heron, text) => (isSecond(text) ? undefined : waits(heron)),
  },
  "never-ends": {
    onPrompt: async (heron) => {
      heron.say("I think about it.");
      return new Promise<never>(() => {});
    },
  },
  "exits-in-the-middle": {
    onPrompt: async (heron) => {
      heron.say("I begin.");
      console.error("heron: out of feathers");
      process.exit(3);
    },
  },
  "half-a-line": {
    onPrompt: async (heron) => {
      heron.raw('{"jsonrpc":"2.0","method":"session/upd');
      process.exit(0);
    },
  },
  "noise-on-stderr": {
    onPrompt: async () => {
      for (let i = 0; i < 3000; i++)
        console.error(`{"jsonrpc":"2.0","id":2,"result":{"stopReason":"refusal"}} ${"x".repeat(1000)}`);
      return undefined;
    },
  },
  "other-version": { protocolVersion: 7 },
  "no-version": { protocolVersion: null },
  "login-required": { errors: { "session/new": { code: -32000, message: "Authentication required" } } },
  "rate-limit": { errors: { "session/prompt": { code: 429, message: "Slow down" } } },
  "internal-error": { errors: { "session/prompt": { code: -32603, message: "Internal error" } } },
  "empty-error": { errors: { "session/prompt": {} } },
  "mode-refused": { errors: { "session/set_mode": { code: -32602, message: "no mode ask" } } },
  "odd-end": { onPrompt: async () => ({ stopReason: 7 }) },
  "without-usage": { noUsage: true },
};

/** The first turn ends without a word that the work is done. */
const waits = async ({ say }: Heron): Promise<object> => {
  say("I wait.");
  return end;
};

const isSecond = (text: string): boolean => text.includes("Now do it.");
