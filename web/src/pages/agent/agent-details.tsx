import type { Agent, Generation } from "../../api/types.ts";
import { useResource } from "../../live/resource.ts";
import { useUrl } from "../../state/url.ts";
import { amount, clockTime, exactTime, money, span } from "../../state/words.ts";
import { FactList } from "../../ui/peek.tsx";
import { Empty, Shown } from "../../ui/states.tsx";
import { Table } from "../../ui/table.tsx";
import { Age, Middle } from "../../ui/text.tsx";
import css from "./agent-page.module.css";

const useInspection = (name: string) =>
  useResource({ path: "/api/agents/:name/inspect", given: { name }, refreshedBy: `agent:${name}` });

/** The files that its newest calls touched, each with the way to its changes. */
export function AgentFiles({ agent }: { agent: Agent }) {
  const { name } = agent;
  const query = useInspection(name);
  const { search, set } = useUrl();
  return (
    <Shown what={`the files of ${name}`} query={query}>
      {({ files, agent: whole }) =>
        files.length === 0 ? (
          <Empty why={`${name} has touched no file yet.`} command={`ov diff ${name}`} />
        ) : (
          <div className={css.body}>
            {whole.scope.length === 0 ? null : <p className={css.lead}>It may change {whole.scope.join(", ")}.</p>}
            <ul className={css.files}>
              {files.map((path) => (
                <li key={path}>
                  <button type="button" onClick={() => set({ ...search, tab: "changes", file: path })}>
                    <code>
                      <Middle text={path} tail={28} />
                    </code>
                  </button>
                </li>
              ))}
            </ul>
          </div>
        )
      }
    </Shown>
  );
}

/** What it cost, and the turns of the generation with their share of it, newest first. */
export function AgentCost({ agent, generation }: { agent: Agent; generation: Generation | undefined }) {
  const query = useInspection(agent.name);
  return (
    <Shown what={`the costs of ${agent.name}`} query={query}>
      {({ tokens, costUsd, turnCount }) =>
        generation === undefined || generation.turns.length === 0 ? (
          <Empty why={`${agent.name} has had no turn yet.`} />
        ) : (
          <div className={css.body}>
            <FactList
              facts={[
                ["Cost", `${money(costUsd)}${agent.limitUsd ? ` of ${money(agent.limitUsd)}` : ""}`],
                ["Turns", turnCount],
                [
                  "Tokens in",
                  tokens === null ? "not reported" : amount(tokens.input + tokens.cacheRead + tokens.cacheWrite),
                ],
                ["Tokens out", tokens === null ? "not reported" : amount(tokens.output)],
              ]}
            />
            <Table>
              <thead>
                <tr>
                  <th>Turn</th>
                  <th>Started by</th>
                  <th>Ended</th>
                  <th className={css.figure}>Took</th>
                  <th className={css.figure}>Cost</th>
                </tr>
              </thead>
              <tbody>
                {generation.turns.toReversed().map((turn) => (
                  <tr key={turn.id}>
                    <td title={turn.startedAt === null ? undefined : exactTime(turn.startedAt)}>
                      {turn.startedAt === null ? "queued" : clockTime(turn.startedAt)}
                    </td>
                    <td>{turn.trigger}</td>
                    <td>{turn.failure ?? turn.status}</td>
                    <td className={css.figure}>{turn.durationMs === null ? "" : span(turn.durationMs)}</td>
                    <td className={css.figure}>{money(turn.costUsd)}</td>
                  </tr>
                ))}
              </tbody>
            </Table>
          </div>
        )
      }
    </Shown>
  );
}

/** What is known about it and does not change often. */
export function AgentFacts({ agent }: { agent: Agent }) {
  const query = useInspection(agent.name);
  return (
    <Shown what={`the facts about ${agent.name}`} query={query}>
      {({ agent: whole, waits, checkpoint, identity, unread }) => (
        <div className={css.body}>
          <FactList
            facts={[
              ["State", agent.status],
              ["Outcome", agent.outcome],
              ["Parent", agent.parent],
              ["Task", agent.taskId],
              ["Branch", agent.branch === null ? null : <Middle key="b" text={agent.branch} />],
              ["Worktree", agent.worktreePath === null ? null : <Middle key="w" text={agent.worktreePath} tail={28} />],
              ["Base commit", whole.baseCommit === null ? null : <code key="c">{whole.baseCommit.slice(0, 12)}</code>],
              ["Scope", whole.scope.length === 0 ? null : whole.scope.join(", ")],
              ["Runtime", [agent.runtime, whole.driver, whole.cliVersion].filter(Boolean).join(", ")],
              ["Model", agent.model],
              ["Conversation", whole.providerSessionId],
              ["Waits", agent.because ?? waits.map(({ kind, ref }) => `${kind} ${ref}`).join(", ")],
              ["Unread mail", unread],
              ["Completed tasks", identity?.completed],
              ["Checkpoint", checkpoint?.summary],
              ["Left to do", checkpoint?.pending],
              ["Started", <Age key="s" at={agent.startedAt} form="span" />],
              ["Last sign", <Age key="l" at={agent.lastActivity} form="span" />],
            ]}
          />
        </div>
      )}
    </Shown>
  );
}
