import { useMemo } from "react";
import { AgentState } from "../../agents/agent-state.tsx";
import type { Agent } from "../../api/types.ts";
import { useUrl } from "../../state/url.ts";
import { withTurns } from "../../ui/safe-text.ts";
import { edgeWords, type FleetEdge } from "./fleet-edges.ts";
import css from "./fleet-graph.module.css";

/** The facts of the drawing as a list, for those who cannot use a canvas. */
export function FleetLinks({ agents, edges }: { agents: readonly Agent[]; edges: readonly FleetEdge[] }) {
  const { set } = useUrl();
  const edgesOfEach = useMemo(() => {
    const found = new Map<string, FleetEdge[]>(agents.map(({ name }) => [name, []]));
    for (const edge of edges) for (const name of [edge.source, edge.target]) found.get(name)?.push(edge);
    return found;
  }, [agents, edges]);
  return (
    <section className={css.links} aria-label="Agents and their links">
      {agents.map((agent) => (
        <article key={agent.name} aria-label={agent.name}>
          <header>
            <button type="button" className={css.name} onClick={() => set({ peek: `agent:${agent.name}` })}>
              {agent.name}
            </button>
            <AgentState agent={agent} />
          </header>
          <ul aria-label={`Links of ${agent.name}`}>
            <Led name={agent.name} edges={edgesOfEach.get(agent.name) ?? []} />
            {edgesOfEach
              .get(agent.name)
              ?.filter((edge) => !isLed(edge, agent.name))
              .map((edge) => (
                <li key={edge.id} data-tone={edge.kind === "overlap" ? "attn" : undefined}>
                  {withTurns(edgeWords(edge, agent.name))}
                </li>
              ))}
          </ul>
        </article>
      ))}
    </section>
  );
}

const isLed = ({ kind, source }: FleetEdge, name: string): boolean => kind === "parent" && source === name;

/** All that an agent leads, in one line. */
function Led({ name, edges }: { name: string; edges: readonly FleetEdge[] }) {
  const led = edges.filter((edge) => isLed(edge, name)).map(({ target }) => target);
  return led.length === 0 ? null : <li>leads {led.join(", ")}</li>;
}
