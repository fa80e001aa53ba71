// The types of vendor/htm-preact.js, as far as the page uses them.

export function html(strings: TemplateStringsArray, ...values: any[]): any;
export function h(type: any, props: any, ...children: any[]): any;
export function render(node: any, parent: HTMLElement): void;
export class Component<P = {}, S = {}> { props: P; state: S; setState(state: Partial<S>): void; render(props: P, state: S): any; }
export function useState<T>(initial: T | (() => T)): [T, (value: T | ((old: T) => T)) => void];
export function useReducer<S, A>(reducer: (state: S, action: A) => S, initial: S): [S, (action: A) => void];
export function useEffect(effect: () => void | (() => void), inputs?: any[]): void;
export function useLayoutEffect(effect: () => void | (() => void), inputs?: any[]): void;
export function useRef<T>(initial: T): { current: T };
export function useMemo<T>(make: () => T, inputs: any[]): T;
export function useCallback<T extends Function>(callback: T, inputs: any[]): T;
