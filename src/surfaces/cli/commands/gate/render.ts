import type { GateResult, GateStatus, Receipt } from "../../../../domain/gate/gate.ts";
import { visibleLine } from "../../../../domain/text/visible.ts";
import type { Paint, Rows } from "../../command.ts";
import { elapsed, iso } from "../../format.ts";

export const resultJson = ({ createdAt, ...result }: GateResult) => ({ ...result, createdAt: iso(createdAt) });

export const receiptJson = ({ createdAt, ...receipt }: Receipt) => ({ ...receipt, createdAt: iso(createdAt) });

/** `when` formats a time, for scripts or for a person. */
export const resultRows = (
  results: readonly GateResult[],
  when: (at: number) => string = (at) => iso(at) ?? "",
): Rows => ({
  columns: ["ID", "GATE", "STATUS", "EXIT", "TOOK", "TREE", "WHEN"],
  cells: results.map((result) => [
    result.id,
    result.gate,
    statusWords(result),
    result.exitCode === null ? "-" : String(result.exitCode),
    elapsed(result.durationMs),
    result.tree.slice(0, 10),
    when(result.createdAt),
  ]),
  objects: results.map(resultJson),
});

/** One result on one line. */
export function resultLine(paint: Paint, result: GateResult): string {
  const exit = result.exitCode === null ? "" : `, exit ${result.exitCode}`;
  const status = paint[statusHues[result.status]](statusWords(result));
  return `  ${paint.accent(result.id)}  ${visibleLine(result.gate)}: ${status}${exit}, ${elapsed(result.durationMs)}  ${paint.dim(visibleLine(result.command))}`;
}

export const statusWords = ({ status, flaky }: Pick<GateResult, "status" | "flaky">): string =>
  `${status.replaceAll("_", " ")}${flaky ? " when repeated" : ""}`;

const statusHues = {
  passed: "green",
  failed: "red",
  timed_out: "red",
  could_not_run: "yellow",
} as const satisfies Record<GateStatus, keyof Paint>;
