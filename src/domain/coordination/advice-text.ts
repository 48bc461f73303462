import type { Advice } from "./advice.ts";

/** The advice in plain words, a sentence per line. Ids only: titles are other people's text. */
export function adviceLines(advice: Advice): readonly string[] {
  if (advice.verdict === "plan") {
    return ["There are no open tasks yet, so nothing can be foreseen: divide the objective first, then ask again."];
  }
  return [verdictLine(advice), ...chainLine(advice), ...clusterLines(advice), ...unknownLine(advice)];
}

function verdictLine({ verdict, openTasks, builders, rounds, roundsAlone }: Advice): string {
  const work = openTasks === 1 ? "One open task" : `${openTasks} open tasks`;
  if (openTasks === 1) return `${work}: one builder is enough.`;
  if (verdict === "single") return `${work}, but one after the other: a second builder would have nothing to do.`;
  const gain = `about ${rounds} ${rounds === 1 ? "round" : "rounds"} instead of ${roundsAlone}`;
  return `${work}: ${builders} builders at once, ${gain}. More would not make it faster.`;
}

function chainLine({ criticalPath, openTasks, width }: Advice): readonly string[] {
  if (openTasks === 1) return [];
  const side = `At most ${width} of them could run side by side.`;
  if (criticalPath.length === 1) return [`No task waits for another. ${side}`];
  return [`The longest chain is ${shortened(criticalPath, " -> ")}. ${side}`];
}

const clusterLines = ({ clusters }: Advice): readonly string[] =>
  clusters.map(
    ({ tasks, file }) =>
      `${shortened(tasks, ", ")} touch the same files (${file}): let one agent do them, or make them wait for each other.`,
  );

function unknownLine({ withoutFiles, openTasks }: Advice): readonly string[] {
  if (withoutFiles.length === 0 || openTasks === 1) return [];
  const all = withoutFiles.length === openTasks;
  const which = all ? "No task says" : `${shortened(withoutFiles, ", ")} do not say`;
  return [
    `${which} which files it touches, so conflicts there cannot be foreseen: ov task update <task> --files <path>`,
  ];
}

const mostNamed = 8;

function shortened(ids: readonly string[], between: string): string {
  if (ids.length <= mostNamed) return ids.join(between);
  return `${ids.slice(0, mostNamed).join(between)}${between}and ${ids.length - mostNamed} more`;
}
