import { type DragEvent, type KeyboardEvent, useRef, useState } from "react";
import { agentLook, spineOf } from "../../agents/agent-look.ts";
import type { Agent, Task } from "../../api/types.ts";
import { useCommands } from "../../state/commands.ts";
import { useUrl } from "../../state/url.ts";
import { count, money } from "../../state/words.ts";
import { type ColumnId, columns as states, useTaskActions } from "../../tasks/task-actions.ts";
import { Button } from "../../ui/controls.tsx";
import { Glyph, type GlyphName, type Tone } from "../../ui/glyph.tsx";
import { Menu } from "../../ui/overlays.tsx";
import { withTurns } from "../../ui/safe-text.ts";
import { Age } from "../../ui/text.tsx";
import css from "./tasks-page.module.css";

export interface BoardColumn {
  readonly id: string;
  readonly title: string;
  readonly isFolded: boolean;
  readonly tasks: readonly Task[];
}

/** More cards than these are shown on demand. */
const mostShown = 60;

/**
 * Columns of cards. Arrows go from card to card; with Shift they move the card, where the tracker allows it. So does a
 * pointer, where the columns are states of tasks.
 */
export function TaskBoard({ columns, agents }: { columns: readonly BoardColumn[]; agents: readonly Agent[] }) {
  const { set } = useUrl();
  const board = useRef<HTMLDivElement>(null);
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const [focusedId, setFocusedId] = useState<string>();
  const [dragged, setDragged] = useState<Task>();
  const [over, setOver] = useState<string>();
  const { shift, sling, move: moveTo, whyNotTo } = useTaskActions();
  const isMoved = columns.every(({ id }) => states.some((state) => state.id === id));
  const letGo = (): void => {
    setDragged(undefined);
    setOver(undefined);
  };
  /** What a column does with the card that is dragged over it. One that does not take it says why. */
  const takesCard = (id: string) => {
    if (dragged === undefined || dragged.column === id) return {};
    const to = id as ColumnId;
    const isFree = whyNotTo(dragged, to) === undefined;
    return {
      "data-drop": over === id ? (isFree ? "yes" : "no") : undefined,
      onDragOver: (event: DragEvent) => {
        event.preventDefault();
        event.dataTransfer.dropEffect = isFree ? "move" : "none";
        setOver(id);
      },
      // Where nothing may be dropped no drop is told, so the reason stands there while the card is above it.
      onDragLeave: (event: DragEvent) => {
        if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setOver(undefined);
      },
      onDrop: (event: DragEvent) => {
        event.preventDefault();
        moveTo(dragged, to);
        letGo();
      },
    };
  };
  const isOpen = ({ id, isFolded }: BoardColumn): boolean => isFolded === opened.has(id);
  const shown = columns.map((column) => ({ ...column, tasks: isOpen(column) ? column.tasks.slice(0, mostShown) : [] }));
  const all = shown.flatMap(({ tasks }) => tasks);
  const current = all.find(({ id }) => id === focusedId) ?? all[0];

  const focus = (task: Task | undefined): void => {
    if (task === undefined) return;
    setFocusedId(task.id);
    board.current?.querySelector<HTMLElement>(`[data-task="${CSS.escape(task.id)}"]`)?.focus();
  };
  const move = (across: number, down: number): void => {
    const column = shown.findIndex(({ tasks }) => tasks.some(({ id }) => id === current?.id));
    const row = shown[column]?.tasks.findIndex(({ id }) => id === current?.id) ?? 0;
    const beside = across > 0 ? shown.slice(column + 1) : shown.slice(0, column).toReversed();
    const { tasks = [] } = beside.find((each) => each.tasks.length > 0) ?? {};
    focus(across === 0 ? shown[column]?.tasks[row + down] : tasks[Math.min(row, tasks.length - 1)]);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (current === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    if (!(event.target as HTMLElement).matches("[data-task]")) return;
    const acts: Readonly<Record<string, () => void>> = event.shiftKey
      ? { ArrowRight: () => shift(current, 1), ArrowLeft: () => shift(current, -1) }
      : {
          ArrowRight: () => move(1, 0),
          ArrowLeft: () => move(-1, 0),
          ArrowDown: () => move(0, 1),
          ArrowUp: () => move(0, -1),
          j: () => move(0, 1),
          k: () => move(0, -1),
          Enter: () => set({ peek: `task:${current.id}` }),
          o: () => set({ peek: `task:${current.id}` }),
        };
    const act = acts[event.key];
    if (act === undefined) return;
    event.preventDefault();
    act();
  };
  useCommands("Board", [
    ...(current === undefined
      ? []
      : [
          { id: "board.enter", label: "Go to the board", keys: "j", run: () => focus(current), onlyKeys: true },
          { id: "board.sling", label: `Sling an agent on ${current.id}`, keys: "s", run: () => sling(current) },
          {
            id: "board.right",
            label: `Move ${current.id} one column to the right`,
            keys: "Shift+ArrowRight",
            run: () => shift(current, 1),
          },
          {
            id: "board.left",
            label: `Move ${current.id} one column to the left`,
            keys: "Shift+ArrowLeft",
            run: () => shift(current, -1),
          },
        ]),
  ]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it hears the keys of all its cards
    <div ref={board} className={css.board} onKeyDown={onKeyDown}>
      {columns.map((column, at) => (
        <section
          key={column.id}
          className={css.column}
          data-folded={isOpen(column) ? undefined : true}
          aria-label={column.title}
          {...takesCard(column.id)}
        >
          <header>
            <h2>{column.title}</h2>
            <span>{column.tasks.length}</span>
            {column.tasks.length === 0 || !column.isFolded ? null : (
              <Button
                look="quiet"
                aria-expanded={isOpen(column)}
                onClick={() => setOpened((before) => new Set(before.has(column.id) ? [] : [column.id]))}
              >
                {isOpen(column) ? "Fold" : "Show"}
              </Button>
            )}
          </header>
          {dragged === undefined || over !== column.id ? null : (
            <p className={css.whyNot}>{whyNotTo(dragged, column.id as ColumnId) ?? `Move ${dragged.id} here`}</p>
          )}
          <ol aria-label={`${column.title}, ${count(column.tasks.length, "task")}`}>
            {shown[at]?.tasks.map((task) => (
              <Card
                key={task.id}
                task={task}
                agent={agents.find(({ name }) => name === task.claimedBy)}
                isCurrent={task.id === current?.id}
                onFocus={() => setFocusedId(task.id)}
                onDrag={isMoved ? setDragged : undefined}
                onLetGo={letGo}
              />
            ))}
            {isOpen(column) && column.tasks.length > mostShown ? (
              <li className={css.more}>and {column.tasks.length - mostShown} more; the list shows all</li>
            ) : null}
          </ol>
        </section>
      ))}
    </div>
  );
}

const mergeLooks: Readonly<
  Partial<Record<Task["mergeState"], { readonly glyph: GlyphName; readonly tone: Tone; readonly word: string }>>
> = {
  queued: { glyph: "pending", tone: "idle", word: "in the queue" },
  failed: { glyph: "conflict", tone: "bad", word: "could not land" },
  merged: { glyph: "merged", tone: "done", word: "landed" },
  abandoned: { glyph: "cancelled", tone: "idle", word: "given up" },
};

export const mergeLook = (task: Task) => mergeLooks[task.mergeState];

interface CardProps {
  readonly task: Task;
  readonly agent: Agent | undefined;
  readonly isCurrent: boolean;
  readonly onFocus: () => void;
  readonly onDrag: ((task: Task) => void) | undefined;
  readonly onLetGo: () => void;
}

function Card({ task, agent, isCurrent, onFocus, onDrag, onLetGo }: CardProps) {
  const { set } = useUrl();
  const { itemsFor } = useTaskActions();
  const look = agent === undefined ? undefined : agentLook(agent, Date.now());
  const merge = mergeLook(task);
  const tone = merge?.tone === "bad" ? "bad" : look === undefined ? undefined : spineOf(look);
  const peek = (): void => set({ peek: `task:${task.id}` });
  return (
    <li data-tone={tone} title={task.claimedBy === null ? undefined : `Held by ${task.claimedBy}`}>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the board hears the keys of all its cards */}
      <div
        className={css.card}
        data-task={task.id}
        role="button"
        tabIndex={isCurrent ? 0 : -1}
        draggable={onDrag !== undefined}
        onDragStart={(event) => {
          event.dataTransfer.setData("text/plain", task.id);
          event.dataTransfer.effectAllowed = "move";
          onDrag?.(task);
        }}
        onDragEnd={onLetGo}
        onFocus={onFocus}
        onClick={peek}
      >
        <p className={css.title}>
          <code>{task.id}</code> {withTurns(task.title)}
        </p>
        <p className={css.facts}>
          {task.priority < 2 ? <b>p{task.priority}</b> : null}
          {task.waitsFor.length > 0 ? <span>waits for {task.waitsFor.join(", ")}</span> : null}
          {task.column === "waiting" && task.waitsFor.length === 0 ? <span>held back</span> : null}
          {task.blocks.length > 0 && task.column !== "done" ? <span>blocks {task.blocks.length}</span> : null}
          {look === undefined ? (
            task.claimedBy
          ) : (
            <span className={css.agent} data-tone={look.tone}>
              <Glyph name={look.glyph} tone={look.tone} word={look.word} /> {agent?.name}
            </span>
          )}
          {agent?.costUsd === undefined || agent.costUsd === null ? null : <span>{money(agent.costUsd)}</span>}
          {merge === undefined ? null : (
            <span className={css.agent} data-tone={merge.tone}>
              <Glyph name={merge.glyph} tone={merge.tone} /> {merge.word}
            </span>
          )}
          <Age at={task.updatedAt} />
        </p>
      </div>
      <Menu label={`Actions on ${task.id}`} items={itemsFor(task)}>
        <button type="button" className={css.menu} tabIndex={-1} aria-label={`Actions on ${task.id}`}>
          ⋯
        </button>
      </Menu>
    </li>
  );
}
