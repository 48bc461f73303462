import { Link } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { useAct, useWhyNot } from "../api/actions.ts";
import { useAttention } from "../api/resources.ts";
import type { AttentionItem, OfferedAction } from "../api/types.ts";
import { type Command, useCommands } from "../state/commands.ts";
import { peekOf } from "../state/url.ts";
import { count, span } from "../state/words.ts";
import { Button } from "../ui/controls.tsx";
import { Glyph } from "../ui/glyph.tsx";
import { confirm, Menu } from "../ui/overlays.tsx";
import { withTurns } from "../ui/safe-text.ts";
import { Shown } from "../ui/states.tsx";
import { Age } from "../ui/text.tsx";
import css from "./attention.module.css";
import { attentionLook } from "./attention-look.ts";
import { closePanel } from "./panels.ts";

const goneMs = 5000;

/** What needs a person, most urgent first, each with its action. Used by the inbox, over the page, and by the Overview. */
export function AttentionList({ calm, isOverPage = false }: { calm: string; isOverPage?: boolean }) {
  const query = useAttention();
  return (
    <Shown what="what needs you" query={query}>
      {({ items, snoozed }) => <Items open={items} snoozed={snoozed} calm={calm} isOverPage={isOverPage} />}
    </Shown>
  );
}

interface ItemsProps {
  /** Most urgent first, as the server has them. */
  readonly open: readonly AttentionItem[];
  readonly snoozed: readonly AttentionItem[];
  readonly calm: string;
  readonly isOverPage: boolean;
}

function Items({ open, snoozed, calm, isOverPage }: ItemsProps) {
  const [showsSnoozed, setShowsSnoozed] = useState(false);
  const [at, setAt] = useState(0);
  const list = useRef<HTMLOListElement>(null);
  const resolved = useResolved(open);
  const shown = [...open, ...(showsSnoozed ? snoozed : [])];
  const current = shown[Math.min(at, shown.length - 1)];
  const { perform, snooze, whyNot } = useItemActions();
  const move = (by: number): void => {
    // The first step goes to the list itself.
    const isIn = list.current?.contains(document.activeElement) === true;
    const next = Math.max(0, Math.min(shown.length - 1, isIn ? at + by : at));
    setAt(next);
    list.current?.querySelectorAll<HTMLElement>("li[tabindex]")[next]?.focus();
  };
  useCommands(
    "Needs you",
    current === undefined ? [] : commandsOf(current, { perform, snooze, whyNot, move }),
    isOverPage,
  );
  return (
    <>
      {open.length === 0 && resolved.length === 0 ? <p className={css.calm}>{calm}</p> : null}
      <ol ref={list} className={css.list} aria-label="Needs you">
        {shown.map((item, index) => (
          <Item key={item.id} item={item} isCurrent={item === current} onFocus={() => setAt(index)} />
        ))}
        {resolved.map((item) => (
          <li key={item.id} className={css.item} data-gone>
            <Glyph name={attentionLook(item.kind).glyph} tone="done" />
            <s>{withTurns(item.sentence)}</s>
          </li>
        ))}
      </ol>
      {snoozed.length === 0 ? null : (
        <Button look="quiet" aria-expanded={showsSnoozed} onClick={() => setShowsSnoozed(!showsSnoozed)}>
          {showsSnoozed ? "Hide snoozed" : `${count(snoozed.length, "snoozed item")}`}
        </Button>
      )}
    </>
  );
}

/** Items that went by themselves, for a moment longer. */
function useResolved(open: readonly AttentionItem[]): readonly AttentionItem[] {
  const before = useRef(open);
  const [gone, setGone] = useState<readonly AttentionItem[]>([]);
  useEffect(() => {
    const ids = new Set(open.map(({ id }) => id));
    const left = before.current.filter(({ id }) => !ids.has(id));
    before.current = open;
    if (left.length === 0) return;
    setGone((kept) => [...kept, ...left]);
    setTimeout(() => setGone((kept) => kept.filter((item) => !left.includes(item))), goneMs);
  }, [open]);
  return gone;
}

function Item({ item, isCurrent, onFocus }: { item: AttentionItem; isCurrent: boolean; onFocus: () => void }) {
  const { glyph, tone, word } = attentionLook(item.kind);
  const { perform, snooze, whyNot } = useItemActions();
  return (
    <li className={css.item} data-tone={tone} tabIndex={isCurrent ? 0 : -1} onFocus={onFocus}>
      <Glyph name={glyph} tone={tone} word={word} />
      <div className={css.text}>
        <p className={css.sentence}>{withTurns(item.sentence)}</p>
        <p className={css.detail}>
          {item.detail === null ? null : <span>{withTurns(item.detail.replaceAll(/\*\*|`/g, ""))}</span>}
          {item.blocks.length === 0 ? null : (
            <span title={item.blocks.join(", ")}>blocks {count(item.blocks.length, "agent")}</span>
          )}
          <Age at={item.since} form="span" />
        </p>
        <div className={css.actions}>
          {item.options.map((option) => (
            <Button key={option.number} whyNot={whyNot} onClick={() => perform(item, optionAction(item, option.label))}>
              <kbd>{option.number}</kbd> {withTurns(optionWords(item, option.label))}
            </Button>
          ))}
          {otherActions(item).map((action) => (
            <Button key={action.id} whyNot={whyNot} onClick={() => perform(item, action)}>
              {action.danger === true ? `${action.label}...` : action.label}
            </Button>
          ))}
          {item.kind === "budget" || item.kind === "budget_soon" ? (
            <Link
              className={css.open}
              to="/costs"
              search={{ view: "budgets", ...raising(item.subject) } as never}
              onClick={closePanel}
            >
              Raise in Budgets
            </Link>
          ) : null}
          <OpenLink subject={item.subject} words={item.kind === "question" ? "Reply" : "Open"} />
          <Menu
            label="Snooze"
            items={[
              { label: "15 min", run: () => snooze(item, 15 * 60_000), whyNot },
              { label: "1 hour", run: () => snooze(item, 60 * 60_000), whyNot },
              { label: "Until it changes", run: () => snooze(item, "change"), whyNot, keys: "h" },
            ]}
          >
            <Button look="quiet">Snooze</Button>
          </Menu>
        </div>
      </div>
    </li>
  );
}

/** The budget that an item is about, as the list of budgets names it. */
function raising(subject: string): { readonly raise?: string } {
  const [, scope, of, unit] = /^budget:(\w+):(.+):(\w+)$/.exec(subject) ?? [];
  return scope === undefined ? {} : { raise: `${scope}:${unit}:${of}` };
}

/** Where the subject of an item has its page. */
function OpenLink({ subject, words }: { subject: string; words: string }) {
  if (subject.startsWith("queue:"))
    return (
      <Link className={css.open} to="/merge" onClick={closePanel}>
        {words}
      </Link>
    );
  if (subject.startsWith("radar:"))
    return (
      <Link className={css.open} to="/merge" search={{ view: "radar" } as never} onClick={closePanel}>
        {words}
      </Link>
    );
  const peek = peekOf(subject);
  if (peek === undefined) return null;
  const pages = { agent: `/agents/${peek.id}`, merge: `/merge/${peek.id}`, msg: `/mail`, task: `/tasks` };
  const search =
    peek.kind === "msg"
      ? { msg: peek.id, ...(words === "Reply" ? { write: "reply" } : {}) }
      : peek.kind === "task"
        ? { task: peek.id }
        : {};
  return (
    <Link className={css.open} to={pages[peek.kind] as never} search={search as never} onClick={closePanel}>
      {words}
    </Link>
  );
}

/** Options are words of agents, but for those that the server offers. */
const optionWords = (item: AttentionItem, label: string): string => {
  const action = optionAction(item, label);
  if (item.kind !== "approval" || action === undefined) return label;
  return action.danger === true ? `${action.label}...` : action.label;
};

/** A decision is answered by the action that the server offers for the option. */
const optionAction = (item: AttentionItem, label: string): OfferedAction | undefined =>
  item.actions.find(({ id }) => id === label);

const otherActions = ({ actions, options }: AttentionItem): readonly OfferedAction[] =>
  actions.filter(({ id }) => !options.some(({ label }) => label === id));

function useItemActions() {
  const act = useAct();
  const whyNot = useWhyNot();
  const perform = (item: AttentionItem, action: OfferedAction | undefined): void => {
    if (action === undefined) return;
    const { label, method, path, body, danger, asks } = action;
    const what = `${label.toLowerCase()} (${item.sentence})`;
    const run = (words = ""): void => {
      const written = asks === undefined ? body : { ...(body as object | undefined), [asks]: words };
      void act({ what, method, path, body: written, done: `${label}: done. ${item.sentence}` });
    };
    const question = { title: `${label}?`, effects: [item.sentence, ...dangers(item)], verb: label, run };
    if (danger !== true) run();
    else confirm(asks === undefined ? question : { ...question, words: { label: `Your ${asks}` } });
  };
  const snooze = (item: AttentionItem, until: number | "change"): void =>
    void act({
      what: "snooze it",
      method: "POST",
      path: `/api/attention/${encodeURIComponent(item.id)}/snooze`,
      body: until === "change" ? {} : { minutes: Math.round(until / 60_000) },
      done: until === "change" ? "Snoozed until it changes." : `Snoozed for ${span(until)}.`,
    });
  return { perform, snooze, whyNot };
}

/** What an answer that cannot be taken back does. */
const dangers = ({ kind, blocks }: AttentionItem): readonly string[] => [
  kind === "approval"
    ? "The branch leaves the queue and is kept."
    : "Kept: worktree, branch and everything uncommitted.",
  ...(blocks.length === 0 ? [] : [`Waiting for it: ${blocks.join(", ")}.`]),
];

interface ItemHands {
  readonly perform: (item: AttentionItem, action: OfferedAction | undefined) => void;
  readonly snooze: (item: AttentionItem, until: number | "change") => void;
  readonly whyNot: string | undefined;
  readonly move: (by: number) => void;
}

/** Letters of the actions that the server offers, the same as in the terminal dashboard. */
const letters: Readonly<Record<string, string>> = {
  approve: "a",
  reject: "x",
  undo: "u",
  nudge: "n",
  stop: "s",
  recover: "v",
};

function commandsOf(item: AttentionItem, { perform, snooze, whyNot, move }: ItemHands): readonly Command[] {
  return [
    { id: "attention.next", label: "Next item", keys: "j", run: () => move(1), onlyKeys: true },
    { id: "attention.previous", label: "Previous item", keys: "k", run: () => move(-1), onlyKeys: true },
    ...item.options.map(({ number, label }) => ({
      id: `attention.option-${number}`,
      label: `${label} (${item.sentence})`,
      keys: String(number),
      run: () => perform(item, optionAction(item, label)),
      disabled: whyNot,
    })),
    ...otherActions(item).map((action) => ({
      id: `attention.${action.id}`,
      label: `${action.label} (${item.sentence})`,
      keys: letters[action.id],
      run: () => perform(item, action),
      disabled: whyNot,
    })),
    {
      id: "attention.snooze",
      label: "Snooze until it changes",
      keys: "h",
      run: () => snooze(item, "change"),
      disabled: whyNot,
    },
  ];
}
