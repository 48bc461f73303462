import "@xyflow/react/dist/base.css";
import { graphlib, layout } from "@dagrejs/dagre";
import { Controls, type Edge, Handle, type Node, type NodeProps, Position, ReactFlow } from "@xyflow/react";
import { useMemo, useState } from "react";
import { agentLook } from "../../agents/agent-look.ts";
import { AgentState } from "../../agents/agent-state.tsx";
import type { Agent } from "../../api/types.ts";
import { useUrl } from "../../state/url.ts";
import css from "./fleet-page.module.css";

const edgeKinds = { parent: "Parent", waits: "Waits for" } as const;
type EdgeKind = keyof typeof edgeKinds;
type AgentNode = Node<{ agent: Agent }, "agent">;

/** Above this many agents, those below leads are folded into their lead. */
const mostNodes = 60;

/** The fleet as a drawing. The tree and the table hold the same facts for those who cannot use it. */
export default function FleetGraph({ agents }: { agents: readonly Agent[] }) {
  const [hidden, setHidden] = useState<ReadonlySet<EdgeKind>>(new Set());
  const { set } = useUrl();
  const shown = useMemo(() => (agents.length > mostNodes ? agents.filter(({ depth }) => depth < 2) : agents), [agents]);
  const places = usePlaces(shown);
  const nodes = useMemo(
    () =>
      shown.map(
        (agent): AgentNode => ({
          id: agent.name,
          type: "agent",
          position: places.get(agent.name) ?? { x: 0, y: 0 },
          data: { agent },
          ariaLabel: `${agent.name}, ${agent.status}`,
        }),
      ),
    [shown, places],
  );
  const edges = useMemo(
    () =>
      edgesOf(shown)
        .filter(({ type }) => !hidden.has(type as EdgeKind))
        .map(drawn),
    [shown, hidden],
  );
  return (
    <>
      <div className={css.edges}>
        {(Object.keys(edgeKinds) as EdgeKind[]).map((kind) => (
          <label key={kind}>
            <input
              type="checkbox"
              checked={!hidden.has(kind)}
              onChange={() =>
                setHidden((before) =>
                  before.has(kind) ? new Set([...before].filter((each) => each !== kind)) : new Set([...before, kind]),
                )
              }
            />
            {edgeKinds[kind]}
          </label>
        ))}
        {shown.length < agents.length ? (
          <span>{agents.length - shown.length} workers are folded into their leads</span>
        ) : null}
      </div>
      <div className={css.graph}>
        <ReactFlow
          nodes={nodes}
          edges={edges}
          nodeTypes={nodeTypes}
          fitView
          fitViewOptions={{ maxZoom: 1, padding: 0.05 }}
          minZoom={0.2}
          nodesConnectable={false}
          deleteKeyCode={null}
          onNodeClick={(_, node) => set({ peek: `agent:${node.id}` })}
          proOptions={{ hideAttribution: true }}
        >
          <Controls showInteractive={false} />
        </ReactFlow>
      </div>
    </>
  );
}

const AgentCard = ({ data: { agent } }: NodeProps<AgentNode>) => (
  <div className={css.node} data-tone={agentLook(agent, Date.now()).tone}>
    <Handle type="target" position={Position.Left} isConnectable={false} />
    <span className="mono">{agent.name}</span>
    <AgentState agent={agent} />
    <Handle type="source" position={Position.Right} isConnectable={false} />
  </div>
);
const nodeTypes = { agent: AgentCard };

function edgesOf(agents: readonly Agent[]): readonly Edge[] {
  const names = new Set(agents.map(({ name }) => name));
  return agents.flatMap(({ name, parent, waits }) => [
    ...(parent !== null && names.has(parent)
      ? [{ id: `${parent}>${name}`, source: parent, target: name, type: "parent" }]
      : []),
    ...waits
      .filter(({ ref }) => names.has(ref) && ref !== parent)
      .map(({ ref }) => ({ id: `${name}~${ref}`, source: name, target: ref, type: "waits" })),
  ]);
}

const drawn = (edge: Edge): Edge => ({
  ...edge,
  type: "smoothstep",
  style: edge.type === "waits" ? { strokeDasharray: "4 4", stroke: "var(--ink-3)" } : { stroke: "var(--line-2)" },
});

/** Laid out anew only when agents come or leave, so that the drawing stays still while they work. */
function usePlaces(agents: readonly Agent[]): ReadonlyMap<string, { readonly x: number; readonly y: number }> {
  const names = agents.map(({ name }) => name).join("\n");
  // biome-ignore lint/correctness/useExhaustiveDependencies: the state of an agent does not move it
  return useMemo(() => {
    const root = getComputedStyle(document.documentElement);
    const size = (token: string): number => Number.parseFloat(root.getPropertyValue(token));
    const [width, height] = [size("--node-width"), size("--node-height")];
    const graph = new graphlib.Graph()
      .setGraph({ rankdir: "LR", ranksep: height, nodesep: height / 5 })
      .setDefaultEdgeLabel(() => ({}));
    for (const { name } of agents) graph.setNode(name, { width, height });
    for (const { source, target, type } of edgesOf(agents)) if (type === "parent") graph.setEdge(source, target);
    layout(graph);
    return new Map(
      agents.map(({ name }) => [name, { x: graph.node(name).x - width / 2, y: graph.node(name).y - height / 2 }]),
    );
  }, [names]);
}
