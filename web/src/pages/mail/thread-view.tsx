import { useEffect, useRef } from "react";
import { useMe } from "../../api/resources.ts";
import type { Letter } from "../../api/types.ts";
import { useResource } from "../../live/resource.ts";
import { LetterCard } from "../../mail/letter.tsx";
import { useMailActions } from "../../mail/mail-actions.ts";
import { useCommands } from "../../state/commands.ts";
import { useUrl } from "../../state/url.ts";
import { count } from "../../state/words.ts";
import { Composer } from "../../ui/composer.tsx";
import { Button } from "../../ui/controls.tsx";
import { withTurns } from "../../ui/safe-text.ts";
import { Shown } from "../../ui/states.tsx";
import css from "./mail-page.module.css";

/** A whole thread, oldest first, with the field for the answer under it. */
export function ThreadView({ id }: { id: string }) {
  const query = useResource({ path: "/api/mail/:thread/thread", given: { thread: id }, topic: `thread:${id}` });
  const { set } = useUrl();
  const close = (): void => set({ thread: undefined, msg: undefined });
  useCommands("Open thread", [
    { id: "thread.close", label: "Close the thread", keys: "Escape", run: close, onlyKeys: true },
  ]);
  return (
    <section className={css.thread} aria-label="Thread">
      <Shown what="the thread" query={query}>
        {({ items }) => <Letters letters={items} onClose={close} />}
      </Shown>
    </section>
  );
}

const focusReply = (): void => document.querySelector<HTMLElement>("#mail-reply textarea")?.focus();

function Letters({ letters, onClose }: { letters: readonly Letter[]; onClose: () => void }) {
  const { markSeen, reply, whyNot } = useMailActions();
  const { data: me } = useMe();
  const { search, replace } = useUrl();
  const end = useRef<HTMLDivElement>(null);
  const newest = letters.at(-1);
  const first = letters[0];
  const answered =
    letters.findLast(({ asks }) => asks !== null) ?? letters.findLast(({ from }) => from !== "operator") ?? newest;
  const unseen =
    newest !== undefined && !newest.seen && me?.user === "operator" && whyNot === undefined ? newest.id : undefined;
  // What the operator has looked at is a mark of the operator's own. No delivery knows of it.
  useEffect(() => {
    if (unseen !== undefined) void markSeen(unseen, true);
  }, [unseen, markSeen]);
  const newestId = newest?.id;
  const wanted = search.msg ?? letters.find(({ asks }) => asks !== null)?.id;
  useEffect(() => {
    const place = wanted === undefined ? null : document.querySelector(`#msg-${CSS.escape(wanted)}`);
    if (place !== null) place.scrollIntoView({ block: "start" });
    else if (newestId !== undefined) end.current?.scrollIntoView({ block: "nearest" });
  }, [newestId, wanted]);
  const wantsReply = search.write === "reply";
  useEffect(() => {
    if (!wantsReply) return;
    replace({ write: undefined });
    // A panel that closes gives the focus back first.
    setTimeout(focusReply, 50);
  }, [wantsReply, replace]);
  useCommands("Reply", [
    {
      id: "mail.reply",
      label: "Reply",
      keys: "Shift+R",
      run: focusReply,
      disabled: whyNot,
    },
  ]);
  if (first === undefined || newest === undefined || answered === undefined) return null;
  return (
    <>
      <header className={css.threadHead}>
        <h2 dir="auto">{withTurns(first.subject)}</h2>
        <span className={css.faint}>{count(letters.length, "message")}</span>
        <Button look="quiet" onClick={onClose}>
          Close
        </Button>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long thread is scrolled by keyboard */}
      <div className={css.letters} tabIndex={0} role="log" aria-label={first.subject}>
        {letters.map((letter) => (
          <LetterCard key={letter.id} letter={letter} subject={first.subject} />
        ))}
        <div ref={end} />
      </div>
      <div id="mail-reply">
        <Composer
          draft={`thread.${first.threadId}`}
          label={`Reply to ${answered.from}`}
          verb="Send reply"
          whyNot={whyNot}
          onSend={(text) => reply(answered, text)}
        />
      </div>
    </>
  );
}
