import { Link } from "@tanstack/react-router";
import { addressOf } from "../../api/client.ts";
import { useResource } from "../../live/resource.ts";
import { withTurns } from "../../ui/safe-text.ts";
import { Empty, Shown } from "../../ui/states.tsx";
import { Age, Facts } from "../../ui/text.tsx";
import css from "./agent-page.module.css";

/** Mail from and to an agent, newest first. Looking at it changes no delivery. */
export function AgentMail({ name }: { name: string }) {
  const query = useResource({ path: "/api/mail", given: { agent: name }, topic: addressOf("mail", { agent: name }) });
  return (
    <Shown what={`the mail of ${name}`} query={query}>
      {({ items }) => {
        if (items.length === 0)
          return (
            <Empty why={`${name} has neither sent nor got mail lately.`} command={`ov mail list --from ${name}`} />
          );
        return (
          <div className={css.body}>
            {items
              .toSorted((a, b) => (a.createdAt < b.createdAt ? 1 : -1))
              .map((message) => (
                <article key={`${message.id} ${message.to}`} className={css.message}>
                  <Facts
                    facts={[
                      message.type,
                      `${message.from} to ${message.to}`,
                      message.state,
                      <Age key="age" at={message.createdAt} form="span" />,
                    ]}
                  />
                  <Link className={css.subject} to={"/mail" as never} search={{ msg: message.id } as never} dir="auto">
                    {withTurns(message.subject)}
                  </Link>
                  <p className={css.text} dir="auto">
                    {withTurns(message.body)}
                  </p>
                </article>
              ))}
          </div>
        );
      }}
    </Shown>
  );
}
