import "@xyflow/react/dist/base.css";
import { graphlib, layout } from "@dagrejs/dagre";
import {
  ConnectionMode,
  Controls,
  type Edge,
  Handle,
  MarkerType,
  type Node,
  type NodeChange,
  type NodeProps,
  Position,
  ReactFlow,
} from "@xyflow/react";
import { type KeyboardEvent, useMemo, useState } from "react";
import { agentLook } from "../../agents/agent-look.ts";
import { AgentState } from "../../agents/agent-state.tsx";
import type { Agent } from "../../api/types.ts";
import { useIsPhone } from "../../state/media.ts";
import { useStore } from "../../state/store.ts";
import { useUrl } from "../../state/url.ts";
import { count } from "../../state/words.ts";
import { Button } from "../../ui/controls.tsx";
import { type EdgeKind, edgeKinds, edgeWords, type FleetEdge } from "./fleet-edges.ts";
import css from "./fleet-graph.module.css";
import { FleetLinks } from "./fleet-links.tsx";
import { layOutAgain, movedNodes, moveNode } from "./moved-nodes.ts";
import { useFleetEdges } from "./use-fleet-edges.ts";

type AgentNode = Node<{ agent: Agent }, "agent">;
interface Place {
  readonly x: number;
  readonly y: number;
}

const kinds = Object.keys(edgeKinds) as EdgeKind[];

/** Above this many agents, those below leads are folded into their lead. */
const mostNodes = 60;

/** The fleet as a drawing, with a list beside it that holds the same facts. A phone shows the list alone. */
export default function FleetGraph({ agents }: { agents: readonly Agent[] }) {
  const isPhone = useIsPhone();
  const shown = useMemo(() => (agents.length > mostNodes ? agents.filter(({ depth }) => depth < 2) : agents), [agents]);
  const { edges, isOff, turn, countedOnly } = useFleetEdges(shown);
  const moved = useStore(movedNodes);
  const isMoved = shown.some(({ id }) => id in moved);
  return (
    <>
      <div className={css.kinds}>
        {kinds.map((kind) => (
          <label key={kind}>
            <input type="checkbox" checked={!isOff(kind)} onChange={() => turn(kind)} />
            <span className={css.sample} data-kind={kind} aria-hidden />
            {edgeKinds[kind]}
          </label>
        ))}
        {shown.length < agents.length ? (
          <span>{agents.length - shown.length} workers are folded into their leads</span>
        ) : null}
        {countedOnly === undefined ? null : <span>Only the newest {countedOnly} messages are counted</span>}
        {isMoved && !isPhone ? (
          <Button look="quiet" onClick={layOutAgain}>
            Lay out again
          </Button>
        ) : null}
        {isPhone ? <span>A wider screen shows the drawing, too.</span> : null}
      </div>
      <div className={css.both}>
        {isPhone ? null : <Drawing agents={shown} edges={edges} />}
        <FleetLinks agents={shown} edges={edges} />
      </div>
    </>
  );
}

function Drawing({ agents, edges }: { agents: readonly Agent[]; edges: readonly FleetEdge[] }) {
  const { set } = useUrl();
  const { places: laidOut, size } = usePlaces(agents);
  const moved = useStore(movedNodes);
  const places = useMemo(
    () => new Map(agents.map(({ id, name }) => [name, moved[id] ?? laidOut.get(name) ?? { x: 0, y: 0 }])),
    [agents, moved, laidOut],
  );
  // The arrow keys move the chosen one.
  const [chosen, setChosen] = useState<string>();
  const nodes = useMemo(
    () =>
      agents.map(
        (agent): AgentNode => ({
          id: agent.name,
          type: "agent",
          position: places.get(agent.name) ?? { x: 0, y: 0 },
          // Known beforehand, so that a new state of an agent does not have it measured and drawn anew.
          measured: size,
          selected: agent.name === chosen,
          data: { agent },
          ariaLabel: `${agent.name}, ${agent.status}`,
        }),
      ),
    [agents, places, size, chosen],
  );
  const drawn = useMemo(() => edges.map((edge, at) => drawnEdge(edge, places, at)), [edges, places]);
  const apply = (changes: readonly NodeChange<AgentNode>[]): void => {
    for (const change of changes) {
      if (change.type === "select")
        setChosen((before) => (change.selected ? change.id : before === change.id ? undefined : before));
      if (change.type !== "position" || change.position === undefined) continue;
      const agent = agents.find(({ name }) => name === change.id);
      if (agent !== undefined) moveNode(agent.id, change.position);
    }
  };
  const peekByKey = (event: KeyboardEvent): void => {
    const name = (event.target as HTMLElement).closest<HTMLElement>(".react-flow__node")?.dataset.id;
    if (event.key === "Enter" && name !== undefined) set({ peek: `agent:${name}` });
  };
  return (
    <div className={css.graph}>
      <ReactFlow
        nodes={nodes}
        edges={drawn}
        nodeTypes={nodeTypes}
        connectionMode={ConnectionMode.Loose}
        fitView
        fitViewOptions={{ maxZoom: 1, padding: { x: "8%", y: "4%" } }}
        minZoom={0.2}
        nodesConnectable={false}
        edgesFocusable={false}
        deleteKeyCode={null}
        onKeyDown={peekByKey}
        onNodesChange={apply}
        onNodeClick={(_, node) => set({ peek: `agent:${node.id}` })}
        proOptions={{ hideAttribution: true }}
      >
        <Controls showInteractive={false} />
      </ReactFlow>
    </div>
  );
}

const AgentCard = ({ data: { agent } }: NodeProps<AgentNode>) => (
  <div className={css.node} data-tone={agentLook(agent, Date.now()).tone}>
    <span className="mono">{agent.name}</span>
    <AgentState agent={agent} />
    {kinds.map((kind) => (
      <Ends key={kind} kind={kind} />
    ))}
  </div>
);
const nodeTypes = { agent: AgentCard };

const heights: Readonly<Record<EdgeKind, string>> = { mail: "20%", parent: "40%", waits: "60%", overlap: "80%" };

/** Each kind of edge ends at a height of its own, so that two agents can be joined by all of them. */
const Ends = ({ kind }: { kind: EdgeKind }) =>
  [Position.Left, Position.Right].map((side) => (
    <Handle
      key={side}
      id={`${kind} ${side}`}
      type="source"
      position={side}
      isConnectable={false}
      style={{ top: heights[kind] }}
    />
  ));

const looks = {
  parent: { style: { stroke: "var(--line-2)" } },
  waits: {
    style: { stroke: "var(--ink-3)", strokeDasharray: "6 4" },
    markerEnd: { type: MarkerType.ArrowClosed, color: "var(--ink-3)" },
  },
  mail: { style: { stroke: "var(--ink-2)" } },
  overlap: {
    style: { stroke: "var(--attn)", strokeWidth: 2, strokeDasharray: "0.1 5", strokeLinecap: "round" },
    labelStyle: { fill: "var(--attn)" },
    labelBgStyle: { fill: "var(--canvas)" },
  },
} as const satisfies Record<EdgeKind, Partial<Edge>>;

/** No line for mail is wider than this. */
const widest = 5;

function drawnEdge(edge: FleetEdge, places: ReadonlyMap<string, Place>, at: number): Edge {
  const { id, kind, source, target, many } = edge;
  const look: Partial<Edge> = looks[kind];
  const [from = 0, to = 0] = [places.get(source)?.x, places.get(target)?.x];
  const isBeside = Math.abs(from - to) < 1;
  const side = (isLeft: boolean): Position => (isLeft ? Position.Left : Position.Right);
  // Files go round on the left of a column, all else on its right.
  const [out, into] = isBeside
    ? [side(kind === "overlap"), side(kind === "overlap")]
    : [side(from > to), side(to > from)];
  return {
    id,
    source,
    target,
    sourceHandle: `${kind} ${out}`,
    targetHandle: `${kind} ${into}`,
    type: "smoothstep",
    // Those that go round in one column do it beside each other.
    ...(isBeside ? { pathOptions: { offset: 28 + (at % 3) * 8 } } : {}),
    ariaLabel: `${source} ${edgeWords(edge, source)}`,
    ...look,
    ...(kind === "mail" ? { style: { ...look.style, strokeWidth: Math.min(many, widest) } } : {}),
    ...(kind === "overlap" ? { label: count(many, "file") } : {}),
  };
}

/** Laid out anew only when agents come or leave, so that the drawing stays still while they work. */
function usePlaces(agents: readonly Agent[]) {
  const names = agents.map(({ name }) => name).join("\n");
  // biome-ignore lint/correctness/useExhaustiveDependencies: the state of an agent does not move it
  return useMemo(() => {
    const root = getComputedStyle(document.documentElement);
    const length = (token: string): number => Number.parseFloat(root.getPropertyValue(token));
    const [width, height] = [length("--node-width"), length("--node-height")];
    const graph = new graphlib.Graph()
      .setGraph({ rankdir: "LR", ranksep: height * 1.5, nodesep: height / 5 })
      .setDefaultEdgeLabel(() => ({}));
    for (const { name } of agents) graph.setNode(name, { width, height });
    for (const { name, parent } of agents) if (parent !== null && graph.hasNode(parent)) graph.setEdge(parent, name);
    layout(graph);
    const places = new Map<string, Place>(
      agents.map(({ name }) => [name, { x: graph.node(name).x - width / 2, y: graph.node(name).y - height / 2 }]),
    );
    return { places, size: { width, height } };
  }, [names]);
}
