import type { ReactNode } from "react";
import css from "./page.module.css";

/** The one line at the top of a page: title, filter, views, one primary action at the right. */
export const PageHead = ({ title, children, action }: { title: string; children?: ReactNode; action?: ReactNode }) => (
  <header className={css.head}>
    <h1>{title}</h1>
    {children}
    {action === undefined ? null : <div className={css.action}>{action}</div>}
  </header>
);

/** A part of a page under its own small title, with a rule above it. `more` stands at the right of the title. */
export const Section = ({ title, more, children }: { title: ReactNode; more?: ReactNode; children: ReactNode }) => (
  <section className={css.section}>
    <header>
      <h2>{title}</h2>
      {more}
    </header>
    {children}
  </section>
);
