"""How numba compiles a function of this package: as an entry, which Python can call, or as a piece of another function.

numba makes every function ready to be called from Python: it optimises it, writes machine code and two wrappers, and
stores them. A function that is called by another compiled function needs none of that: its code goes into the caller,
where it is optimised again. So a function met while another one is being compiled is only translated for LLVM; if
Python calls it later, it is compiled as an entry then. That halves the time of a first use. The same holds for numba's
own functions, such as `min` and `np.empty`, of which it makes one for each kind of arguments.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import event, sigutils
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.target_extension import CPU, dispatcher_registry
from numba.core.targetconfig import ConfigStack


class Dispatcher(CPUDispatcher):  # type: ignore[misc]
    """A compiled function, with an entry or a piece for each signature it was used with."""

    def __init__(self, py_func: Any, locals: Any = None, targetoptions: Any = None) -> None:
        super().__init__(py_func, locals or {}, targetoptions or {}, pipeline_class=_Compiler)
        self._pieces: set[Any] = set()

    def compile(self, sig: Any) -> Any:
        """Compile for a signature, unless that was done: as a piece while another function is being compiled."""
        with global_compiler_lock:
            if _is_inside():
                return self._compile_piece(sig)
            self._forget_piece(sig)
            with _numbas_own_as_pieces():
                return super().compile(sig)

    def get_compile_result(self, sig: Any) -> Any:
        with global_compiler_lock:
            self._forget_piece(sig)
            with _numbas_own_as_pieces():
                return super().get_compile_result(sig)

    def _forget_piece(self, sig: Any) -> None:
        args = tuple(sigutils.normalize_signature(sig)[0])
        if args in self._pieces:
            self._pieces.remove(args)
            del self.overloads[args]

    def _compile_piece(self, sig: Any) -> Any:
        args, return_type = sigutils.normalize_signature(sig)
        known = self.overloads.get(tuple(args))
        if known is not None:
            return known.entry_point
        details = {"dispatcher": self, "args": args, "return_type": return_type}
        with self._compiling_counter, event.trigger_event("numba:compile", data=details):
            made = self._compiler.compile(args, return_type)._replace(entry_point=object())
        self.targetctx.insert_user_function(made.entry_point, made.fndesc, [made.library])
        self.overloads[tuple(made.signature.args)] = made  # not told to the C code, which would call it
        self._pieces.add(tuple(made.signature.args))
        return made.entry_point


@contextmanager
def _numbas_own_as_pieces() -> Iterator[None]:
    """Let numba translate its own functions, such as min and np.empty, by the same rule."""
    usual = dispatcher_registry[CPU]
    dispatcher_registry.update({CPU: Dispatcher})
    try:
        yield
    finally:
        dispatcher_registry.update({CPU: usual})


def _is_inside() -> bool:
    """Whether a function is being compiled."""
    return ConfigStack.top_or_none() is not None


class _Compiler(Compiler):  # type: ignore[misc]
    """numba's compiler, without what an entry or a piece does not need."""

    def __init__(
        self, typingctx: Any, targetctx: Any, library: Any, args: Any, return_type: Any, flags: Any, locals: Any
    ) -> None:
        self._is_piece = _is_inside()
        if self._is_piece:
            library = (_OptimisedPiece if flags.fastmath else _Piece)(targetctx.codegen(), "piece")
        super().__init__(typingctx, targetctx, library, args, return_type, flags, locals)

    def define_pipelines(self) -> Any:
        flags = self.state.flags  # numba keeps its own functions by a copy made before, alike for entries and pieces
        flags.no_cfunc_wrapper = True
        if self._is_piece:
            flags.no_cpython_wrapper = flags.no_compile = True
        return super().define_pipelines()


class _OptimisedPiece(JITCodeLibrary):  # type: ignore[misc]
    """Code to be linked into other functions, for which no machine code is written."""

    def _finalize_final_module(self) -> None:
        self._finalized = True


class _Piece(_OptimisedPiece):
    """The same, left to be optimised along with the function it becomes part of.

    Not for sums that may be reordered: in which order would depend on the caller.
    """

    def _optimize_final_module(self) -> None:
        pass
