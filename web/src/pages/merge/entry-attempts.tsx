import type { MergeDetail } from "../../api/types.ts";
import { useUrl } from "../../state/url.ts";
import { exactTime, shortCommit, span } from "../../state/words.ts";
import { Button } from "../../ui/controls.tsx";
import { Empty } from "../../ui/states.tsx";
import { Table } from "../../ui/table.tsx";
import css from "./entry-page.module.css";

const outcomes: Readonly<Record<string, string>> = {
  landed: "landed",
  failed: "failed",
  blocked: "blocked from outside",
  moved: "the landing branch had moved",
  lost: "its process died",
};

/** Each try to bring it in, newest first. */
export function EntryAttempts({ detail: { attempts, entry, gates } }: { detail: MergeDetail }) {
  const { replace } = useUrl();
  if (attempts.length === 0) return <Empty why="No try was made yet." command={`ov merge show ${entry.id}`} />;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a table that scrolls must be reachable by keyboard
    <section className={css.body} aria-label="Attempts" tabIndex={0}>
      <Table>
        <thead>
          <tr>
            <th scope="col">Begun</th>
            <th scope="col">Took</th>
            <th scope="col">Outcome</th>
            <th scope="col">Onto</th>
            <th scope="col">With</th>
            <th scope="col">Gates</th>
          </tr>
        </thead>
        <tbody>
          {attempts.toReversed().map((attempt) => {
            const failed = gates.find(({ id, status }) => attempt.gateResults.includes(id) && status !== "passed");
            const others = attempt.queueIds.filter((id) => id !== entry.id);
            return (
              <tr key={attempt.id}>
                <td>{attempt.startedAt === null ? "" : exactTime(attempt.startedAt)}</td>
                <td className="figure">
                  {attempt.finishedAt === null || attempt.startedAt === null
                    ? "goes on"
                    : span(Date.parse(attempt.finishedAt) - Date.parse(attempt.startedAt))}
                </td>
                <td data-tone={attempt.outcome === "failed" ? "bad" : undefined} className={css.outcome}>
                  {attempt.outcome === null ? "goes on" : outcomes[attempt.outcome]}
                </td>
                <td>
                  <code>{shortCommit(attempt.baseCommit)}</code>
                </td>
                <td>{others.length === 0 ? "alone" : others.map((id) => `#${id}`).join(", ")}</td>
                <td>
                  {attempt.gateResults.length === 0 ? "none ran" : `${attempt.gateResults.length} ran`}
                  {failed === undefined ? null : (
                    <Button look="quiet" onClick={() => replace({ tab: "gates", gate: failed.id })}>
                      {failed.gate} failed
                    </Button>
                  )}
                </td>
              </tr>
            );
          })}
        </tbody>
      </Table>
    </section>
  );
}
