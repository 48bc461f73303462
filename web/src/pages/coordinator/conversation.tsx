import { Link } from "@tanstack/react-router";
import { useEffect, useMemo, useRef, useState } from "react";
import { nowLine } from "../../agents/agent-look.ts";
import { useAgents, useAttention, useOverview } from "../../api/resources.ts";
import type { Agent, Head, Letter } from "../../api/types.ts";
import { useResource } from "../../live/resource.ts";
import { deliveryLook } from "../../mail/deliveries.tsx";
import { Decision, LetterCard } from "../../mail/letter.tsx";
import { useCommands } from "../../state/commands.ts";
import { useUrl } from "../../state/url.ts";
import { clockTime, count, exactTime } from "../../state/words.ts";
import { Button } from "../../ui/controls.tsx";
import { Glyph } from "../../ui/glyph.tsx";
import { Prose } from "../../ui/prose.tsx";
import { withTurns } from "../../ui/safe-text.ts";
import { Speech } from "../../ui/speech.tsx";
import { Empty, Shown } from "../../ui/states.tsx";
import { Age } from "../../ui/text.tsx";
import { type ConversationRow, conversationRows, didWords, type Step } from "./conversation-rows.ts";
import { CoordinatorComposer } from "./coordinator-composer.tsx";
import css from "./coordinator-page.module.css";

/** Oldest at the top. It follows what is new while its end is in sight. */
export function Conversation({ head }: { head: Head }) {
  const { name, runId } = head;
  const given = { run: runId, with: name };
  const letters = useResource({
    path: "/api/mail/with/:with",
    given,
    topic: `conversation:${name}?run=${encodeURIComponent(runId)}`,
  });
  const events = useResource({ path: "/api/agents/:agents/events", given: { agents: name }, topic: `agent:${name}` });
  const rows = useMemo(
    () =>
      conversationRows(
        letters.data?.items ?? [],
        (events.data?.items ?? []).filter((event) => event.runId === null || event.runId === runId),
      ),
    [letters.data, events.data, runId],
  );
  const { end, isAtEnd, scroller, toEnd } = useFollowing(rows.length);
  // By its steps: a fold begins with another one when news of an earlier step comes late.
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const turn = (steps: readonly Step[], isOpen: boolean): void =>
    setOpened((before) => {
      const rest = new Set(before);
      for (const { id } of steps) isOpen ? rest.add(id) : rest.delete(id);
      return rest;
    });
  useCommands("Conversation", [{ id: "conversation.end", label: "Newest message", keys: "End", run: toEnd }]);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long conversation is scrolled by keyboard */}
      <div ref={scroller} className={css.rows} tabIndex={0} role="log" aria-label={`Conversation with ${name}`}>
        <Shown what="the conversation" query={letters}>
          {() => (
            <>
              {rows.length === 0 ? <Empty why={`${name} has said nothing yet.`} /> : null}
              {rows.map((row) => (
                <Row key={row.id} row={row} name={name} opened={opened} turn={turn} />
              ))}
            </>
          )}
        </Shown>
        <OtherDecisions head={head} shown={letters.data?.items ?? []} />
        <Progress head={head} letters={letters.data?.items ?? []} />
        <div ref={end} />
      </div>
      {isAtEnd ? null : (
        <div className={css.newer}>
          <Button onClick={toEnd}>Newest messages</Button>
        </div>
      )}
      <CoordinatorComposer head={head} />
    </>
  );
}

function useFollowing(rows: number) {
  const scroller = useRef<HTMLDivElement>(null);
  const end = useRef<HTMLDivElement>(null);
  const [isAtEnd, setIsAtEnd] = useState(true);
  const toEnd = (): void => end.current?.scrollIntoView({ block: "end" });
  useEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const look = (): void => setIsAtEnd(element.scrollHeight - element.scrollTop - element.clientHeight < 48);
    element.addEventListener("scroll", look, { passive: true });
    return () => element.removeEventListener("scroll", look);
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it follows when rows come, not when a person scrolls
  useEffect(() => {
    if (isAtEnd) toEnd();
  }, [rows]);
  return { scroller, end, isAtEnd, toEnd };
}

interface RowProps {
  readonly row: ConversationRow;
  readonly name: string;
  readonly opened: ReadonlySet<string>;
  readonly turn: (steps: readonly Step[], isOpen: boolean) => void;
}

function Row({ row, name, opened, turn }: RowProps) {
  const { search } = useUrl();
  if (row.kind === "did") {
    return (
      <details
        className={css.did}
        open={row.steps.some(({ id }) => opened.has(id))}
        onToggle={({ currentTarget }) => turn(row.steps, currentTarget.open)}
      >
        <summary>
          {name}: {didWords(row.steps)}
        </summary>
        <ol>
          {row.steps.map((step) => (
            <li key={step.id}>
              <time dateTime={step.at}>{clockTime(step.at)}</time> <code>{step.words}</code>
            </li>
          ))}
        </ol>
      </details>
    );
  }
  if (row.kind === "letter") {
    const isMine = row.letter.from === "operator";
    if (!isMine || row.letter.id === search.msg) return <LetterCard letter={row.letter} />;
    return <Sent letter={row.letter} />;
  }
  return (
    <Speech className={css.said} data-tone={row.kind === "failed" ? "bad" : undefined}>
      <header>
        <b>{name}</b>
        <time dateTime={row.at} title={exactTime(row.at)}>
          {clockTime(row.at)}
        </time>
      </header>
      {row.kind === "failed" ? <p className={css.failed}>{row.text}</p> : <Prose text={row.text} />}
    </Speech>
  );
}

/** What the operator wrote, with how far it came. */
function Sent({ letter }: { letter: Letter }) {
  return (
    <Speech className={css.sent} aria-label="Your message">
      <header>
        <b>you</b>
        <time dateTime={letter.createdAt} title={exactTime(letter.createdAt)}>
          {clockTime(letter.createdAt)}
        </time>
        {letter.body.startsWith(letter.subject.replace(/…$/, "")) ? null : <span>{withTurns(letter.subject)}</span>}
        <span className={css.state}>
          {letter.deliveries.map(({ to, state }) => {
            const { glyph, tone, word } = deliveryLook(state);
            return (
              <span key={to}>
                <Glyph name={glyph} tone={tone} /> {word}
              </span>
            );
          })}
        </span>
      </header>
      <Prose text={letter.body} />
    </Speech>
  );
}

/** Decisions of other agents of the run: the coordinator waits for them too. The digits answer the one with the focus. */
function OtherDecisions({ head, shown }: { head: Head; shown: readonly Letter[] }) {
  const { data: overview } = useOverview();
  const { data: attention } = useAttention();
  const [chosen, setChosen] = useState<string>();
  const ids = new Set(shown.map(({ id }) => id));
  const open = (overview?.decisions ?? []).filter(
    ({ id, kind, runId }) => kind === "decision" && runId === head.runId && !ids.has(id),
  );
  const current = open.find(({ id }) => id === chosen) ?? open[0];
  return open.map((decision) => {
    const blocks = attention?.items.find(({ subject }) => subject === `msg:${decision.id}`)?.blocks ?? [];
    return (
      <Speech
        key={decision.id}
        className={css.decision}
        data-tone="attn"
        // The digits answer the decision that has the focus.
        tabIndex={0}
        onFocus={() => setChosen(decision.id)}
      >
        <header>
          <Glyph name="question" tone="attn" word="decision" />
          <b>{decision.from}</b>
          <span>{withTurns(decision.subject)}</span>
          <Age at={decision.createdAt} form="span" />
          {blocks.length === 0 ? null : <span>blocks {count(blocks.length, "agent")}</span>}
          <Link to="/mail" search={{ msg: decision.id } as never}>
            Open
          </Link>
        </header>
        <Prose text={decision.context} />
        {decision === current ? (
          <Decision letter={decision} options={decision.options} />
        ) : (
          <Button onClick={() => setChosen(decision.id)}>Decide</Button>
        )}
      </Speech>
    );
  });
}

/** Why an answer is not there yet: never only that it is awaited. */
function Progress({ head, letters }: { head: Head; letters: readonly Letter[] }) {
  const { agents = [] } = useAgents();
  const agent = agents.find(({ name }) => name === head.name);
  const words = agent === undefined ? undefined : progressWords(agent, letters);
  return words === undefined ? null : <p className={css.progress}>{words}</p>;
}

function progressWords(agent: Agent, letters: readonly Letter[]): string | undefined {
  const { name, condition } = agent;
  const unread = letters.filter(
    ({ from, deliveries }) => from === "operator" && deliveries.some(({ state }) => state === "queued"),
  ).length;
  const waiting = unread === 0 ? "" : `; ${count(unread, "message")} of yours will be read in its next turn`;
  if (!agent.running) return `${name} has ended; nobody reads what you write here.`;
  if (condition !== null && condition !== undefined) return `${condition.words}${waiting}.`;
  if (agent.state === "in_turn") return `${name} is at work: ${nowLine(agent).text}${waiting}.`;
  if (unread > 0) return `A turn of ${name} is queued${waiting}.`;
  return agent.because ? `${name}: ${agent.because}.` : undefined;
}
