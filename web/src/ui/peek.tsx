import type { ReactNode } from "react";
import css from "./peek.module.css";

/** The name of a thing over its facts, for short views. */
export const PeekHead = ({ title, children }: { title: ReactNode; children?: ReactNode }) => (
  <header className={css.head}>
    <h2>{title}</h2>
    {children}
  </header>
);

/** Facts in two columns: name and value. Facts without a value are left out. */
export const FactList = ({ facts }: { facts: readonly (readonly [string, ReactNode])[] }) => (
  <dl className={css.facts}>
    {facts
      .filter(([, value]) => value !== null && value !== undefined && value !== "")
      .map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
  </dl>
);
