import { Link } from "@tanstack/react-router";
import { useResource } from "../live/resource.ts";
import { PeekHead } from "../ui/peek.tsx";
import { withTurns } from "../ui/safe-text.ts";
import { Shown } from "../ui/states.tsx";
import { LetterCard } from "./letter.tsx";

/** A message in its thread, beside any page. Looking at it changes no delivery. */
export default function MailPeek({ id }: { id: string }) {
  const query = useResource({ path: "/api/mail/:thread/thread", given: { thread: id }, topic: `thread:${id}` });
  return (
    <Shown what={`message ${id}`} query={query}>
      {({ items }) => {
        const letter = items.find((each) => each.id === id);
        if (letter === undefined) return <PeekHead title={id}>There is no such message.</PeekHead>;
        return (
          <>
            <PeekHead title={withTurns(letter.subject)}>
              <Link to="/mail" search={{ box: "all", thread: letter.threadId } as never}>
                {items.length === 1 ? "Open in Mail" : `Open the thread of ${items.length} messages`}
              </Link>
            </PeekHead>
            <LetterCard letter={letter} />
          </>
        );
      }}
    </Shown>
  );
}
