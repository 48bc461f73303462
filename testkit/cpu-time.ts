/** Milliseconds that this process has computed since. Unlike the clock, this does not grow while other programs have the machine. */
export function cpuTimer(): () => number {
  const begun = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(begun);
    return (user + system) / 1000;
  };
}
