import type { Agent } from "../api/types.ts";
import { useNow } from "../state/clock.ts";
import { LookMark } from "../ui/look.tsx";
import { withTurns } from "../ui/safe-text.ts";
import { Age } from "../ui/text.tsx";
import { agentLook, nowLine } from "./agent-look.ts";
import css from "./agent-state.module.css";

/** The glyph of an agent with its word. */
export function AgentState({ agent, breathes = false }: { agent: Agent; breathes?: boolean }) {
  const look = agentLook(agent, useNow(60_000));
  return (
    <LookMark look={look} title={agent.status} breathes={breathes && look.glyph === "in_turn"}>
      <span>
        {look.word}
        {look.since === undefined ? null : (
          <>
            {" "}
            <Age at={look.since} form="stopwatch" />
          </>
        )}
      </span>
    </LookMark>
  );
}

/** What an agent does now, or why it waits. */
export function NowLine({ agent }: { agent: Agent }) {
  const { text: line, isCode } = nowLine(agent);
  const text = withTurns(line);
  return (
    <span className={isCode ? css.code : css.words} title={text}>
      {text}
    </span>
  );
}
