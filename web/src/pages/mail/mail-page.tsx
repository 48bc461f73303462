import { useCallback, useMemo, useState } from "react";
import { addressOf } from "../../api/client.ts";
import { useAgents, useAttention, useOverview } from "../../api/resources.ts";
import type { Thread } from "../../api/types.ts";
import { useResource } from "../../live/resource.ts";
import { deliveryLook } from "../../mail/deliveries.tsx";
import { useMailActions } from "../../mail/mail-actions.ts";
import { unanswered } from "../../shell/rail.tsx";
import { useCommands } from "../../state/commands.ts";
import { useIsPhone } from "../../state/media.ts";
import { useUrl } from "../../state/url.ts";
import { count } from "../../state/words.ts";
import { Button, Choice, Filter } from "../../ui/controls.tsx";
import { asOptions, Select } from "../../ui/fields.tsx";
import { Glyph } from "../../ui/glyph.tsx";
import { type Column, Grid } from "../../ui/grid.tsx";
import { PageHead } from "../../ui/page.tsx";
import { withTurns } from "../../ui/safe-text.ts";
import { Empty, Shown } from "../../ui/states.tsx";
import { Age } from "../../ui/text.tsx";
import { Compose, mailTypes } from "./compose.tsx";
import css from "./mail-page.module.css";
import { ThreadView } from "./thread-view.tsx";

const boxes = ["reply", "all", "sent", "dead"] as const;
type Box = (typeof boxes)[number];

/** Threads of mail at the left, the open one beside them; on a phone one of the two. */
export default function MailPage() {
  const { search, set, replace } = useUrl();
  const box: Box = boxes.find((each) => each === search.box) ?? "reply";
  const { data: overview } = useOverview();
  const { data: attention } = useAttention();
  const { whyNot } = useMailActions();
  const dead = attention?.items.filter(({ kind }) => kind === "dead_mail").length ?? 0;
  const asked = unanswered(overview);
  const open = search.thread ?? search.msg;
  const isPhone = useIsPhone();
  const compose = (): void => set({ compose: "new" });
  useCommands("Mail", [
    { id: "mail.compose", label: "Compose a message", keys: "c", run: compose, disabled: whyNot },
    {
      id: "mail.filter",
      label: "Find mail",
      keys: "/",
      run: () => document.querySelector<HTMLElement>("#mail-filter")?.focus(),
    },
    ...boxes.map((each) => ({
      id: `mail.box.${each}`,
      label: `Mail: ${boxWords[each]}`,
      run: () => set({ box: each === "reply" ? undefined : each, thread: undefined, msg: undefined }),
    })),
  ]);
  return (
    <>
      {/* A phone has room for the open thread alone. */}
      {isPhone && open !== undefined ? (
        <h1 className="visually-hidden">Mail</h1>
      ) : (
        <PageHead
          title="Mail"
          action={
            <Button look="primary" keys="c" whyNot={whyNot} onClick={compose}>
              Compose
            </Button>
          }
        >
          <Choice
            label="Box"
            value={box}
            options={boxes.map((each) => ({
              value: each,
              label: `${boxWords[each]}${each === "reply" && asked > 0 ? ` ${asked}` : each === "dead" && dead > 0 ? ` ${dead}` : ""}`,
            }))}
            onChoose={(chosen) =>
              set({ box: chosen === "reply" ? undefined : chosen, thread: undefined, msg: undefined })
            }
          />
          <PartyFilters />
          <Filter
            id="mail-filter"
            label="Find in mail"
            value={search.q ?? ""}
            onChange={(q) => replace({ q: q === "" ? undefined : q })}
          />
        </PageHead>
      )}
      <div className={css.panes} data-open={open !== undefined || undefined}>
        <ThreadList box={box} />
        {open === undefined ? null : <ThreadView key={open} id={open} />}
      </div>
      <Compose />
    </>
  );
}

const boxWords: Readonly<Record<Box, string>> = { reply: "To me", all: "All", sent: "Sent", dead: "Dead" };

function PartyFilters() {
  const { search, replace } = useUrl();
  const { agents = [] } = useAgents();
  const names = useMemo(() => ["operator", ...new Set(agents.map(({ name }) => name))], [agents]);
  const select = (label: string, name: "from" | "to" | "type", words: readonly string[]) => (
    <Select
      label={label}
      hideLabel
      value={search[name] ?? ""}
      onChange={(value) => replace({ [name]: value === "" ? undefined : value })}
      options={[{ value: "", label: `${label}: any` }, ...asOptions(words)]}
    />
  );
  return (
    <span className={css.filters}>
      {select("From", "from", names)}
      {select("To", "to", names)}
      {select("Type", "type", mailTypes)}
    </span>
  );
}

const idOf = ({ id }: Thread): string => id;
const nameOf = ({ subject, from, asks, dead, seen }: Thread): string =>
  [
    subject,
    `from ${from}`,
    asks === null ? "" : `${asks} to you`,
    dead.length > 0 ? "given up" : "",
    seen ? "" : "not seen",
  ]
    .filter((part) => part !== "")
    .join(", ");
const toneOf = ({ asks, dead }: Thread) => (dead.length > 0 ? "bad" : asks === null ? undefined : "attn");

const columns: readonly Column<Thread>[] = [
  {
    id: "type",
    header: "Type",
    width: "minmax(13ch, 15ch)",
    cell: (thread) => <TypeCell thread={thread} />,
  },
  {
    id: "who",
    header: "From, to",
    width: "minmax(13ch, 3fr)",
    cell: ({ from, to }) => (
      <span className={css.who} title={`${from} to ${to}`}>
        {from} <span className={css.faint}>to</span> {to}
      </span>
    ),
  },
  { id: "subject", header: "Subject", width: "minmax(14ch, 6fr)", cell: (thread) => <SubjectCell thread={thread} /> },
  {
    id: "age",
    header: "Age",
    width: "6ch",
    align: "end",
    cell: ({ newestAt }) => <Age at={newestAt} />,
  },
];

function TypeCell({ thread: { type, asks, dead, state } }: { thread: Thread }) {
  const { glyph, tone, word } = deliveryLook(dead.length > 0 ? "dead" : state);
  return (
    <span className={css.type} data-tone={dead.length > 0 ? "bad" : asks === null ? undefined : "attn"}>
      {asks === null ? (
        <Glyph name={glyph} tone={tone} word={word} />
      ) : (
        <Glyph name="question" tone="attn" word="waits for you" />
      )}
      <span className={css.typeWord}>{type.replaceAll("_", " ")}</span>
    </span>
  );
}

const SubjectCell = ({ thread: { id, subject, messages, seen, dead, away } }: { thread: Thread }) => (
  <span
    className={seen ? css.subject : css.unseen}
    dir="auto"
    title={withTurns(subject)}
    aria-current={useUrl().search.thread === id || undefined}
  >
    {withTurns(subject)}
    {messages > 1 ? <span className={css.faint}> {messages}</span> : null}
    {away ? <span className={css.faint}> put away</span> : null}
    {dead[0] === undefined ? null : (
      <span className={css.dead}>
        {" "}
        {dead[0].to}: {count(dead[0].attempts, "attempt")}
      </span>
    )}
  </span>
);

const narrow = (thread: Thread) => (
  <span className={css.line}>
    <span className={css.lineTop}>
      <SubjectCell thread={thread} />
      <Age at={thread.newestAt} />
    </span>
    <span className={css.lineTop}>
      <TypeCell thread={thread} />
      <span className={css.who}>{thread.from}</span>
    </span>
  </span>
);

function ThreadList({ box }: { box: Box }) {
  const { search, set, replace } = useUrl();
  const { from, to, type, q, run } = search;
  const given = useMemo(
    () =>
      Object.fromEntries(
        Object.entries({ box, from, to, type, q, run, limit: "100" }).filter(([, value]) => value !== undefined),
      ) as Record<string, string>,
    [box, from, to, type, q, run],
  );
  const query = useResource({ path: "/api/mail/threads", given, topic: addressOf("threads", given) });
  const [focusedId, setFocused] = useState<string>();
  const rows = useMemo(
    () => (query.data?.items ?? []).toSorted((a, b) => Date.parse(b.newestAt) - Date.parse(a.newestAt)),
    [query.data],
  );
  const current = rows.find(({ id }) => id === focusedId) ?? rows.find(({ id }) => id === search.thread);
  const actions = useMailActions();
  const itemsFor = useCallback(
    (thread: Thread) => [
      { label: "Open", run: () => set({ thread: thread.id, msg: undefined }), keys: "Enter" },
      {
        label: thread.seen ? "Mark as not seen" : "Mark as seen",
        run: () => void actions.markSeen(thread.newestId, !thread.seen),
        keys: "e",
        whyNot: actions.whyNot,
      },
      thread.away
        ? { label: "Bring back", run: () => void actions.bringBack(thread), keys: "#", whyNot: actions.whyNot }
        : { label: "Put away", run: () => void actions.putAway(thread), keys: "#", whyNot: actions.whyNot },
    ],
    [actions, set],
  );
  useCommands(
    "Thread",
    current === undefined
      ? []
      : itemsFor(current).map(({ label, run: act, keys, whyNot }) => ({
          id: `thread.${label}`,
          label: `${label}: ${current.subject}`,
          keys: keys === "Enter" ? undefined : keys,
          run: act,
          disabled: whyNot,
        })),
  );
  const onFocusRow = useCallback((thread: Thread | undefined) => setFocused(thread?.id), []);
  const isFiltered = [from, to, type, q].some((value) => value !== undefined);
  const clear = (): void => replace({ from: undefined, to: undefined, type: undefined, q: undefined });
  return (
    <div className={css.list}>
      <Shown what="mail" query={query}>
        {() => (
          <Grid
            label="Threads"
            rows={rows}
            idOf={idOf}
            nameOf={nameOf}
            columns={columns}
            toneOf={toneOf}
            narrow={narrow}
            narrowBelow={32}
            onOpen={(thread) => set({ thread: thread.id, msg: undefined })}
            onPeek={(thread) => set({ peek: `msg:${thread.newestId}` })}
            actionsOf={itemsFor}
            onFocusRow={onFocusRow}
            empty={
              isFiltered ? (
                <Empty why="No mail matches the filter." action={<Button onClick={clear}>Clear filter</Button>} />
              ) : (
                <Empty {...emptyWords[box]} />
              )
            }
          />
        )}
      </Shown>
    </div>
  );
}

const emptyWords: Readonly<Record<Box, { readonly why: string; readonly command?: string }>> = {
  reply: { why: "No agent has written to you. Questions and decisions of agents arrive here.", command: "ov inbox" },
  all: { why: "No mail yet. Agents write to each other while they work.", command: "ov mail list" },
  sent: { why: "You have sent nothing yet.", command: 'ov mail send --to <agent> --subject "..." --body "..."' },
  dead: { why: "Every message has reached its reader, or is on its way.", command: "ov mail dead" },
};
