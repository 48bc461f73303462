import { lazy, Suspense } from "react";
import css from "./prose.module.css";
import { withTurns } from "./safe-text.ts";

const Markdown = lazy(() => import("./markdown.tsx"));

/** Longer texts are shown as they were written: the reader of Markdown takes long for hostile ones. */
const longestRead = 20_000;

/** Words of an agent or a person, for reading. Until the reader of Markdown is there, as they were written. */
export function Prose({ text: written }: { text: string }) {
  const text = withTurns(written);
  const plain = <p className={css.plain}>{text}</p>;
  return (
    <div className={css.prose} dir="auto">
      {text.length > longestRead ? (
        plain
      ) : (
        <Suspense fallback={plain}>
          <Markdown text={text} />
        </Suspense>
      )}
    </div>
  );
}
