import { Dialog, DropdownMenu } from "radix-ui";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { createStore, useStore } from "../state/store.ts";
import { Button, Keys } from "./controls.tsx";
import css from "./overlays.module.css";

/** A layer over the page: `dialog` in the middle, `panel` at the right edge, `palette` high in the middle. */
export const Overlay = ({
  title,
  shape = "dialog",
  open,
  onClose,
  hideTitle = false,
  children,
}: {
  title: string;
  shape?: "dialog" | "panel" | "palette";
  open: boolean;
  onClose: () => void;
  hideTitle?: boolean;
  children: ReactNode;
}) => (
  <Dialog.Root open={open} onOpenChange={(isOpen) => isOpen || onClose()}>
    <Dialog.Portal>
      <Dialog.Overlay className={css.scrim} />
      <Dialog.Content className={css.overlay} data-shape={shape} aria-describedby={undefined}>
        <Dialog.Title className={hideTitle ? "visually-hidden" : css.title}>{title}</Dialog.Title>
        {children}
      </Dialog.Content>
    </Dialog.Portal>
  </Dialog.Root>
);

export interface MenuItem {
  readonly label: string;
  readonly run: () => void;
  readonly keys?: string | undefined;
  readonly whyNot?: string | undefined;
  readonly danger?: boolean;
}

/** A menu behind any button. `undefined` in the list is a line. */
export const Menu = ({
  label,
  items,
  children,
  open,
  onOpen,
}: {
  label: string;
  items: readonly (MenuItem | undefined)[];
  children: ReactNode;
  open?: boolean;
  onOpen?: (open: boolean) => void;
}) => (
  <DropdownMenu.Root
    modal={false}
    {...(open === undefined ? {} : { open })}
    {...(onOpen === undefined ? {} : { onOpenChange: onOpen })}
  >
    <DropdownMenu.Trigger asChild>{children}</DropdownMenu.Trigger>
    <DropdownMenu.Portal>
      <DropdownMenu.Content className={css.menu} align="end" sideOffset={4} collisionPadding={8} aria-label={label}>
        {items.map((item, at) =>
          item === undefined ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: a line has no name but its place
            <DropdownMenu.Separator key={at} className={css.separator} />
          ) : (
            <DropdownMenu.Item
              key={item.label}
              className={css.item}
              disabled={item.whyNot !== undefined}
              data-danger={item.danger || undefined}
              onSelect={item.run}
            >
              <span>{item.label}</span>
              {item.whyNot === undefined ? null : <span className={css.why}>{item.whyNot}</span>}
              {item.keys === undefined ? null : <Keys keys={item.keys} />}
            </DropdownMenu.Item>
          ),
        )}
      </DropdownMenu.Content>
    </DropdownMenu.Portal>
  </DropdownMenu.Root>
);

export interface Question {
  /** The verb and its object, as a question: "Stop builder-4?". */
  readonly title: string;
  /** What will happen, what is kept, how to get back. */
  readonly effects: readonly string[];
  /** The verb and its object: "Stop builder-4". */
  readonly verb: string;
  readonly danger?: boolean;
  /** Words that go with it, of which some must be there. Several lines where it begins with some. */
  readonly words?: { readonly label: string; readonly initial?: string };
  readonly run: (words: string) => void;
}

const asked = createStore<Question | undefined>(undefined);

/** Asks before something that cannot simply be taken back. Anything else gets a toast with Undo instead. */
export const confirm = (question: Question): void => asked.set(question);

/** Where confirmations appear; once, in the shell. */
export function Confirmations() {
  const open = useStore(asked);
  const last = useRef(open);
  if (open !== undefined) last.current = open;
  const question = last.current;
  const close = (): void => asked.set(undefined);
  const [words, setWords] = useState("");
  useEffect(() => setWords(open?.words?.initial ?? ""), [open]);
  // A reason is one line, and Enter sends it. Words that begin with some may become several lines.
  const isShort = question?.words?.initial === undefined;
  const lacksWords = question?.words !== undefined && words.trim() === "";
  const go = (): void => {
    close();
    question?.run(words.trim());
  };
  return (
    <Overlay title={question?.title ?? ""} open={open !== undefined} onClose={close}>
      <ul className={css.effects}>
        {question?.effects.map((effect) => (
          <li key={effect}>{effect}</li>
        ))}
      </ul>
      {question?.words === undefined ? null : (
        <label className={css.words}>
          {question.words.label}
          <textarea
            // biome-ignore lint/a11y/noAutofocus: the words are what the dialog asks for
            autoFocus
            rows={isShort ? 1 : 4}
            value={words}
            onChange={(event) => setWords(event.target.value)}
            onKeyDown={(event) => {
              if (event.key !== "Enter" || !isShort) return;
              event.preventDefault();
              if (!lacksWords) go();
            }}
          />
        </label>
      )}
      <div className={css.buttons}>
        <Button autoFocus={question?.words === undefined} onClick={close}>
          Cancel
        </Button>
        <Button
          look={question?.danger === false ? "primary" : "danger"}
          whyNot={lacksWords ? `${question?.words?.label ?? "Words"}: nothing is written yet` : undefined}
          onClick={go}
        >
          {question?.verb}
        </Button>
      </div>
    </Overlay>
  );
}
