import { type KeyboardEvent, useId, useRef, useState } from "react";
import { useDraft } from "../state/drafts.ts";
import css from "./composer.module.css";
import { Button } from "./controls.tsx";

/** A word that can be completed: `/check`, `@builder-2`, `#auth.1`. */
export interface Completion {
  readonly word: string;
  readonly hint: string;
}

/** A field for words to agents. `Ctrl Enter` sends; the draft survives a reload; Up in an empty field brings the last text back. */
export function Composer({
  draft,
  label,
  verb,
  onSend,
  whyNot,
  completions = [],
  autoFocus = false,
}: {
  /** The name under which the draft is kept. */
  draft: string;
  label: string;
  verb: string;
  onSend: (text: string) => Promise<boolean>;
  whyNot: string | undefined;
  completions?: readonly Completion[];
  autoFocus?: boolean;
}) {
  const { text, setText, clear, bringBack } = useDraft(draft);
  const [sending, setSending] = useState(false);
  const [at, setAt] = useState(0);
  const [closedFor, setClosedFor] = useState("");
  const field = useRef<HTMLTextAreaElement>(null);
  const listId = useId();
  const word = /(?:^|\s)([/@#][\w./-]*)$/.exec(text)?.[1] ?? "";
  const offered =
    word === "" || word === closedFor
      ? []
      : completions
          .filter((each) => each.word.toLowerCase().startsWith(word.toLowerCase()) && each.word !== word)
          // A command stands at the beginning of a message, nowhere else.
          .filter((each) => !each.word.startsWith("/") || text === word)
          .slice(0, 8);
  const chosen = offered[Math.min(at, offered.length - 1)];
  const empty = text.trim() === "";
  const why = whyNot ?? (empty ? "Nothing is written yet" : sending ? "It is being sent" : undefined);

  const send = async (): Promise<void> => {
    if (why !== undefined) return;
    setSending(true);
    if (await onSend(text.trim())) clear();
    setSending(false);
    field.current?.focus();
  };
  const complete = (completion: Completion): void => {
    setText(`${text.slice(0, text.length - word.length)}${completion.word} `);
    setAt(0);
    field.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) return;
    const acts: Readonly<Record<string, (() => void) | undefined>> =
      (event.ctrlKey || event.metaKey) && event.key === "Enter"
        ? { Enter: () => void send() }
        : chosen !== undefined
          ? {
              ArrowDown: () => setAt((at + 1) % offered.length),
              ArrowUp: () => setAt((at + offered.length - 1) % offered.length),
              Enter: () => complete(chosen),
              Tab: () => complete(chosen),
              Escape: () => setClosedFor(word),
            }
          : { ArrowUp: text === "" ? bringBack : undefined, Escape: () => field.current?.blur() };
    const act = acts[event.key];
    if (act === undefined) return;
    event.preventDefault();
    act();
  };
  return (
    <div className={css.composer}>
      {offered.length === 0 ? null : (
        <div id={listId} className={css.offered} role="listbox" aria-label="Completions" tabIndex={-1}>
          {offered.map((each, index) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the field hears the keys
            <div
              key={each.word}
              id={`${listId}-${index}`}
              role="option"
              tabIndex={-1}
              aria-selected={each === chosen}
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => complete(each)}
            >
              <code>{each.word}</code> <span>{each.hint}</span>
            </div>
          ))}
        </div>
      )}
      <textarea
        ref={field}
        value={text}
        rows={Math.min(12, Math.max(2, text.split("\n").length))}
        dir="auto"
        aria-label={label}
        placeholder={label}
        aria-controls={offered.length === 0 ? undefined : listId}
        aria-activedescendant={chosen === undefined ? undefined : `${listId}-${offered.indexOf(chosen)}`}
        // biome-ignore lint/a11y/noAutofocus: it was opened to be written in
        autoFocus={autoFocus}
        onChange={(event) => {
          setAt(0);
          setText(event.target.value);
        }}
        onKeyDown={onKeyDown}
      />
      <Button look={why === undefined ? "primary" : "plain"} whyNot={why} keys="Mod+Enter" onClick={() => void send()}>
        {verb}
      </Button>
    </div>
  );
}
