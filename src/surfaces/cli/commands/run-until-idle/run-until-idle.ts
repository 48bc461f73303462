import { ok } from "../../../../domain/result.ts";
import type { IdleReport } from "../../../../usecases/engine/run-until-idle.ts";
import { exits } from "../../../shared/exits.ts";
import type { Handler } from "../../command.ts";
import { integer } from "../../given.ts";
import { workLine } from "../engine/render.ts";

export const runUntilIdle: Handler = async ({ app, flags }) => {
  const seconds = integer(flags.timeout);
  const timeoutMs = seconds === undefined ? undefined : seconds * 1000;
  const over = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => over.abort());
  const done = await app.follow("engine.runUntilIdle", { timeoutMs }, { signal: over.signal });
  if (!done.ok) return done;
  const { ending } = done.value;
  const { exit, words } = endings[ending];
  const json = { ...done.value, idle: ending === "idle", success: ending === "idle" };
  const text = ending === "idle" ? words : `${words} ${workLine(done.value)}`;
  return ok({ json, text, quietText: "", exit });
};

const endings: Readonly<Record<IdleReport["ending"], { readonly exit: number; readonly words: string }>> = {
  idle: { exit: exits.ok, words: "Nothing is left to do." },
  timeout: { exit: exits.timeout, words: "The time is up." },
  interrupted: { exit: exits.interrupted, words: "Interrupted." },
};
