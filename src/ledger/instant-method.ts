type Work<Parameters extends unknown[], Result> = (...parameters: Parameters) => Result;

/** What methods do that need no more than this process's memory. */
const works = new WeakMap<object, Work<never, unknown>>();

/**
 * Makes an asynchronous method of work that is done when it returns, and that nothing can keep from it: it need not be
 * guarded against a store that fails, nor waited for. What a host puts in its place is another method.
 */
export function instantMethod<Parameters extends unknown[], Result>(
  work: Work<Parameters, Result>,
): Work<Parameters, Promise<Result>> {
  const method = async (...parameters: Parameters): Promise<Result> => work(...parameters);
  works.set(method, work);
  return method;
}

/** The work behind the method, if it is of {@link instantMethod}. */
export function workOf<Parameters extends unknown[], Result>(
  method: Work<Parameters, Promise<Result>>,
): Work<Parameters, Result> | undefined {
  return works.get(method) as Work<Parameters, Result> | undefined;
}
