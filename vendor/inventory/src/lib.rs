//! Stand-in for the crate inventory.
//!
//! tract's crates register kernels and named model transforms through this crate. A static constructor keeps every
//! registered item reachable, so no linker can drop it. One transform pulls in the reader of a second model format and
//! with it every operator: half of the worker's size. Rooflight uses no transform, so `submit!` omits them; everything
//! else goes into one list.

use std::any::Any;
use std::iter::FusedIterator;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

/// A type of which there is an inventory.
pub trait Collect: Sized + Sync + 'static {}

#[macro_export]
macro_rules! collect {
    ($kind:ty) => {
        impl $crate::Collect for $kind {}
    };
}

#[macro_export]
macro_rules! submit {
    (ModelTransformFactory $($fields:tt)*) => {};
    ($root:tt :: transform :: ModelTransformFactory $($fields:tt)*) => {};
    ($value:expr) => {
        const _: () = {
            static ENTRY: $crate::Entry = $crate::Entry { value: &$value, next: $crate::Next::new() };

            extern "C" fn enter() {
                $crate::enter(&ENTRY);
            }

            // What stands in these sections is called before `main`; for the web, by what wasm-bindgen starts.
            #[used]
            #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
            #[cfg_attr(windows, unsafe(link_section = ".CRT$XCU"))]
            #[cfg_attr(not(any(target_vendor = "apple", windows)), unsafe(link_section = ".init_array"))]
            static ENTER: extern "C" fn() = enter;
        };
    };
}

/// One submission. Made by `submit!` alone.
#[doc(hidden)]
pub struct Entry {
    pub value: &'static (dyn Any + Sync),
    pub next: Next,
}

/// The entry submitted before; set when this one is.
#[doc(hidden)]
pub type Next = OnceLock<Option<&'static Entry>>;

static NEWEST: AtomicPtr<Entry> = AtomicPtr::new(std::ptr::null_mut());

fn newest() -> Option<&'static Entry> {
    // SAFETY: null, or what `enter` made of a static.
    unsafe { NEWEST.load(Ordering::Acquire).as_ref() }
}

/// Adds `entry` to the list, once. Constructors run one after the other, but on the web perhaps repeatedly.
#[doc(hidden)]
pub fn enter(entry: &'static Entry) {
    if entry.next.set(newest()).is_ok() {
        NEWEST.store(std::ptr::from_ref(entry).cast_mut(), Ordering::Release);
    }
}

/// `iter::<T>` is a value that can be iterated and called, as that of the crate it stands in for. An enum, since
/// only a variant can be generic over a type of which it holds nothing.
#[allow(non_camel_case_types)]
#[derive(Debug, Clone, Copy)]
pub enum iter<T> {
    iter,
    #[doc(hidden)]
    Never(PhantomData<T>, std::convert::Infallible),
}

#[doc(hidden)]
pub use self::iter::*;

/// What has been submitted of one type, the newest first.
#[derive(Clone)]
pub struct Submitted<T> {
    rest: Option<&'static Entry>,
    kind: PhantomData<T>,
}

impl<T: Collect> Submitted<T> {
    fn all() -> Self {
        Self { rest: newest(), kind: PhantomData }
    }
}

impl<T: Collect> Iterator for Submitted<T> {
    type Item = &'static T;

    fn next(&mut self) -> Option<&'static T> {
        while let Some(entry) = self.rest {
            self.rest = entry.next.get().copied().flatten();
            let value: &dyn Any = entry.value;
            if let Some(found) = value.downcast_ref() {
                return Some(found);
            }
        }
        None
    }
}

impl<T: Collect> FusedIterator for Submitted<T> {}

impl<T: Collect> IntoIterator for iter<T> {
    type Item = &'static T;
    type IntoIter = Submitted<T>;

    fn into_iter(self) -> Submitted<T> {
        Submitted::all()
    }
}

impl<T: Collect> Deref for iter<T> {
    type Target = fn() -> Submitted<T>;

    fn deref(&self) -> &Self::Target {
        &(Submitted::<T>::all as fn() -> Submitted<T>)
    }
}
