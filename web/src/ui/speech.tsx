import type { ComponentProps } from "react";
import css from "./speech.module.css";

/** Words of one speaker in a list of them: a header with the name, then the text. `data-tone` colours the edge. */
export const Speech = ({ className = "", ...given }: ComponentProps<"article">) => (
  <article {...given} className={`${css.speech} ${className}`} />
);
