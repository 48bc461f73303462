import { Link } from "@tanstack/react-router";
import { useMemo, useRef } from "react";
import { useAct, useWhyNot } from "../../api/actions.ts";
import type { AgentDiff, DiffFile, ReviewDetail } from "../../api/types.ts";
import type { Place } from "../../diff/diff-rows.ts";
import { DiffView } from "../../diff/diff-view.tsx";
import { useDiff } from "../../diff/use-diff.ts";
import { useResource } from "../../live/resource.ts";
import { useCommands } from "../../state/commands.ts";
import { useUrl } from "../../state/url.ts";
import { count, shortCommit } from "../../state/words.ts";
import { Button } from "../../ui/controls.tsx";
import { confirm, Menu } from "../../ui/overlays.tsx";
import { PageHead } from "../../ui/page.tsx";
import { Shown } from "../../ui/states.tsx";
import { VerdictMark } from "../../ui/verdict.tsx";
import { DraftNote } from "./draft-note.tsx";
import { anchor, belowLines, findingsOf, lineText, useDrafts } from "./drafts.ts";
import { Notes, ReviewFacts } from "./review-facts.tsx";
import css from "./review-page.module.css";

/** The work of one agent: its diff beside everything that is known about it, and the decision. */
export function OneReview({ name }: { name: string }) {
  const { search, set } = useUrl();
  const about = { path: "/api/reviews/:name", given: { name } } as const;
  const detail = useResource({ ...about, refreshedBy: "reviews", isFresh: true });
  // The list says nothing about an agent that is at work again; its own events do.
  useResource({ ...about, refreshedBy: `agent:${name}` });
  const { query, files, contextOf, openFile } = useDiff("/api/agents/:name/diff", {
    name,
    ...(search.rev === undefined ? {} : { since: search.rev }),
    ...(search.ws === "hide" ? { ignoreSpace: "true" } : {}),
  });
  const moved = useMovedHead(detail.data?.head, query.dataUpdatedAt);
  return (
    <>
      {detail.data === undefined ? <PageHead title={`Review ${name}`} /> : null}
      <Shown what={`the work of ${name}`} query={detail}>
        {(known) => (
          <>
            <Head detail={known} diff={query.data} />
            {moved === undefined ? null : (
              <p className={css.moved} role="status" data-tone="attn">
                The head is now <code>{shortCommit(moved)}</code>. You look at{" "}
                <code>{shortCommit(query.data?.head)}</code>.
                <Button onClick={() => set({ rev: query.data?.head, file: undefined, line: undefined })}>
                  Show what changed
                </Button>
                <Button look="quiet" onClick={() => void query.refetch()}>
                  Show all of it
                </Button>
              </p>
            )}
            {search.rev === undefined ? null : (
              <p className={css.moved}>
                Only what changed since <code>{shortCommit(search.rev)}</code>.
                <Button look="quiet" onClick={() => set({ rev: undefined })}>
                  Show all of it
                </Button>
              </p>
            )}
            <Shown what={`the changes of ${name}`} query={query}>
              {(diff) => (
                <Decision
                  detail={known}
                  diff={diff}
                  files={files}
                  contextOf={contextOf}
                  openFile={openFile}
                  isMoved={moved !== undefined}
                />
              )}
            </Shown>
          </>
        )}
      </Shown>
    </>
  );
}

/** The head on record, when it is another one than when the diff was read. Nothing is read anew by itself. */
function useMovedHead(head: string | null | undefined, readAt: number): string | undefined {
  const seen = useRef<{ readonly readAt: number; readonly head: string | null }>(undefined);
  if (head !== undefined && readAt > 0 && seen.current?.readAt !== readAt) seen.current = { readAt, head };
  const known = seen.current?.head;
  return known === undefined || head === undefined || head === null || head === known ? undefined : head;
}

const Head = ({ detail, diff }: { detail: ReviewDetail; diff: AgentDiff | undefined }) => (
  <header className={css.head}>
    <h1>
      Review <Link to={`/agents/${detail.name}` as never}>{detail.name}</Link>
    </h1>
    {detail.merge === null ? null : (
      <span className="faint">
        {detail.merge.awaitingApproval ? "waits for approval" : detail.merge.status} to land on {detail.merge.target}
      </span>
    )}
    {diff === undefined ? null : (
      <span>
        head <code>{shortCommit(diff.head)}</code>
        {diff.uncommitted ? " with uncommitted changes" : ""}
      </span>
    )}
    <VerdictMark verdict={detail.verdict} />
    {diff === undefined || diff.skipped.length === 0 ? null : (
      <span data-tone="attn" className={css.word} title={diff.skipped.join("\n")}>
        {count(diff.skipped.length, "file")} left out: too large or unreadable
      </span>
    )}
  </header>
);

interface DecisionProps {
  readonly detail: ReviewDetail;
  readonly diff: AgentDiff;
  readonly files: readonly DiffFile[];
  readonly contextOf: (path: string) => number;
  readonly openFile: (path: string, context: number) => Promise<void>;
  readonly isMoved: boolean;
}

function Decision({ detail, diff, files, contextOf, openFile, isMoved }: DecisionProps) {
  const { name } = detail;
  const { set } = useUrl();
  const act = useAct();
  const whyNot = useWhyNot();
  const { drafts, begin, edit, remove, summarize, clear } = useDrafts(name);
  const notes = useMemo(() => anchor(drafts.comments, files), [drafts.comments, files]);
  const below = useMemo(() => belowLines(notes), [notes]);
  const comments = useMemo(() => {
    const counts = new Map<string, number>();
    for (const { draft } of notes) counts.set(draft.path, (counts.get(draft.path) ?? 0) + 1);
    return counts;
  }, [notes]);
  const findings = findingsOf(notes);
  const path = `/api/reviews/${encodeURIComponent(name)}`;

  const submit = async (verdict: "needs_changes" | "fail"): Promise<void> => {
    const isSent = await act({
      what: `send the review to ${name}`,
      method: "POST",
      path,
      body: { verdict, summary: drafts.summary, findings, commit: diff.uncommitted ? null : diff.head },
      done: `Review sent to ${name}: ${count(findings.length, "finding")}.`,
    });
    if (isSent) clear();
  };
  const accept = (): void => {
    const go = (): void =>
      void act({
        what: `accept the work of ${name}`,
        method: "POST",
        path: `${path}/accept`,
        body: { head: diff.head },
        done: `The work of ${name} is in the merge queue.`,
      });
    if (findings.length === 0) {
      go();
      return;
    }
    confirm({
      title: `Accept the work of ${name}?`,
      effects: [
        `${count(findings.length, "draft")} will not be sent. They stay here.`,
        "The branch goes through the gates and lands.",
      ],
      verb: `Accept the work of ${name}`,
      danger: false,
      run: go,
    });
  };
  const nothing =
    findings.length === 0 && drafts.summary.trim() === "" ? "Comment on a line or write a summary first" : undefined;
  const whySubmit = whyNot ?? nothing;
  const whyAccept =
    whyNot ??
    (isMoved ? "The head has moved: look at it first" : undefined) ??
    (diff.uncommitted ? "Some of it is not committed" : undefined) ??
    (detail.ready
      ? undefined
      : detail.merge === null
        ? "It was not handed in yet"
        : `Merge ${detail.merge.id} is ${detail.merge.status}`);
  const isApproval = detail.merge?.awaitingApproval === true;

  useCommands("Review", [
    {
      id: "review.submit",
      label: `Request changes from ${name}`,
      keys: "Mod+Enter",
      run: () => void submit("needs_changes"),
      disabled: whySubmit,
    },
    { id: "review.accept", label: `Accept the work of ${name}`, keys: "a", run: accept, disabled: whyAccept },
  ]);

  const onComment = (at: Place): void => {
    begin(at, lineText(files, at), diff.head);
  };
  return (
    <>
      <DiffView
        files={files}
        scope={name}
        contextOf={contextOf}
        openFile={openFile}
        below={below}
        comments={comments}
        fileKeys={{ next: "n", previous: "Shift+N" }}
        onComment={onComment}
        drawBelow={(id) => {
          const draft = drafts.comments.find((one) => one.id === id);
          return draft === undefined ? null : (
            <DraftNote draft={draft} onEdit={(patch) => edit(id, patch)} onRemove={() => remove(id)} />
          );
        }}
        aside={
          <ReviewFacts
            detail={detail}
            outside={files.filter(({ risks }) => risks.includes("outside its scope")).length}
          >
            <Notes
              notes={notes}
              summary={drafts.summary}
              onSummary={(text) => summarize(text, diff.head)}
              onOpen={({ draft, at }) => {
                edit(draft.id, { isOpen: true });
                if (at !== undefined) set({ file: at.path, line: `${at.side}${at.line}` });
              }}
              onRemove={remove}
            />
          </ReviewFacts>
        }
      />
      <footer className={css.footer}>
        <Button
          look={findings.length > 0 ? "primary" : "plain"}
          keys="Mod+Enter"
          whyNot={whySubmit}
          onClick={() => void submit("needs_changes")}
        >
          Request changes{findings.length === 0 ? "" : ` (${findings.length})`}
        </Button>
        <Button look={findings.length > 0 ? "plain" : "primary"} keys="a" whyNot={whyAccept} onClick={accept}>
          {isApproval ? `Accept: approve merge ${detail.merge?.id}` : "Accept: add to queue"}
        </Button>
        <Menu
          label="Other verdicts"
          items={[
            {
              label: "Fail: the approach is wrong",
              run: () => void submit("fail"),
              whyNot: whySubmit,
            },
            { label: "Discard all drafts", run: clear, whyNot: nothing === undefined ? undefined : "There are none" },
          ]}
        >
          <Button look="quiet">More</Button>
        </Menu>
        <span className="faint">
          goes to {detail.goesTo.name} (generation {detail.goesTo.generation})
        </span>
      </footer>
    </>
  );
}
