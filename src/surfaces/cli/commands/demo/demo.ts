import { ok } from "../../../../domain/result.ts";
import type { DemoState } from "../../../../usecases/demo/play.ts";
import { exits } from "../../../shared/exits.ts";
import type { Handler } from "../../command.ts";
import { isOn } from "../../given.ts";
import { type Scene, sceneLines, sceneNews } from "./scene.ts";
import { summaryText } from "./summary.ts";

export const demo: Handler = async ({ app, flags, io }) => {
  const agents = typeof flags.agents === "number" ? flags.agents : 4;
  const seed = typeof flags.seed === "number" ? flags.seed : Math.floor(Math.random() * 1_000_000);
  const request = { agents, seed, keep: isOn(flags.keep) };
  if (!io.json) io.say(io.paint.muted(`a throwaway repository, scripted agents, no model (seed ${seed})`));
  let scene: Scene = { agents: new Map(), merges: new Map() };
  const onItem = (state: DemoState): void => {
    if (io.json || io.quiet) return;
    const { lines, next } = sceneNews(scene, state);
    scene = next;
    for (const line of lines) io.say(line(io.paint));
  };
  const played = await untilInterrupted((signal) => app.follow("demo.play", request, { onItem, signal }));
  if (!played.ok) return played;
  const summary = played.value;
  const isFine = summary.complete && summary.testsGreen && summary.tasksOpen.length === 0;
  return ok({
    json: { ...summary, success: isFine },
    text: [...sceneLines(scene, io.paint), "", summaryText(summary, io.paint)].join("\n"),
    quietText: "",
    exit: isFine ? exits.ok : summary.interrupted ? exits.interrupted : exits.check,
  });
};

/** Pressed twice, they still wait until the team has ended. */
async function untilInterrupted<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const over = new AbortController();
  const interrupt = (): void => over.abort();
  for (const signal of endings) process.on(signal, interrupt);
  try {
    return await work(over.signal);
  } finally {
    for (const signal of endings) process.off(signal, interrupt);
  }
}

const endings = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
